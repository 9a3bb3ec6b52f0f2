// Random-access input files.
//
// Files are read, not memory-mapped: mapped pages of a large data file would count toward the
// memory of the process, which the memory plan guarantees, and a file that shrinks during the run
// would raise a signal instead of an error message. The page cache of the system avoids repeated
// disk reads.
#ifndef MTC_RUNTIME_IO_INPUT_FILE_H
#define MTC_RUNTIME_IO_INPUT_FILE_H

#include <cstdint>
#include <string>
#include <utility>

namespace mtc::runtime {

class InputFile {
public:
  /// Opens a regular file; throws a user error on failure.
  explicit InputFile(std::string path);
  /// Reads an open file of `bytes` bytes, and closes it at the end. `name` is its name in messages.
  InputFile(std::string name, int descriptor, int64_t bytes)
      : name(std::move(name)), descriptor(descriptor), length(bytes) {}
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  const std::string &path() const { return name; }
  int64_t size() const { return length; }

  /// Reads exactly `bytes` bytes at `offset`; throws if the file ends earlier.
  void read(int64_t offset, void *to, int64_t bytes) const;

private:
  std::string name;
  int descriptor = -1;
  int64_t length = 0;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_INPUT_FILE_H
