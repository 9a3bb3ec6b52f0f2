// A file that is read at any offset.
//
// Read, not mapped: mapped pages of a large data file would count to the process's memory, whose
// size is promised, and a file that shrinks during the run would end it by a signal instead of a
// message. The system's page cache does the rest.
#ifndef MTC_RUNTIME_IO_INPUT_FILE_H
#define MTC_RUNTIME_IO_INPUT_FILE_H

#include <cstdint>
#include <string>

namespace mtc::runtime {

class InputFile {
public:
  /// Opens a regular file; a mistake of the user if that fails.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  const std::string &path() const { return name; }
  int64_t size() const { return length; }

  /// Reads exactly `bytes` at `offset`; fails if the file ends before.
  void read(int64_t offset, void *to, int64_t bytes) const;

private:
  std::string name;
  int descriptor = -1;
  int64_t length = 0;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_INPUT_FILE_H
