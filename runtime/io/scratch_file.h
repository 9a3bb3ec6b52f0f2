// Unnamed temporary files, for data that is offloaded to disk.
#ifndef MTC_RUNTIME_IO_SCRATCH_FILE_H
#define MTC_RUNTIME_IO_SCRATCH_FILE_H

#include <cstdint>
#include <memory>
#include <string>

namespace mtc::runtime {

/// Page-aligned bounce buffer for ranges that are not page-aligned.
class BouncePages {
public:
  static constexpr int64_t bytes = int64_t{1} << 20;

  BouncePages();
  ~BouncePages();
  BouncePages(const BouncePages &) = delete;
  BouncePages &operator=(const BouncePages &) = delete;

  char *data() const { return start; }

private:
  char *start;
};

/// A zero-filled file whose disk space is reserved on creation. The file has no name, so that its
/// space is freed however the process ends. If the file system supports direct I/O, reads and
/// writes bypass the page cache and use no memory there. Threads may concurrently access different
/// pages, each with its own `BouncePages`.
class ScratchFile {
public:
  /// Throws a user error if files cannot be created in `folder` or if it is in memory (tmpfs), and
  /// a system error with the required size if the disk lacks the space.
  ScratchFile(const std::string &folder, int64_t bytes);
  ~ScratchFile();
  ScratchFile(const ScratchFile &) = delete;
  ScratchFile &operator=(const ScratchFile &) = delete;

  void read(int64_t offset, char *to, int64_t bytes, const BouncePages &bounce) const;
  void write(int64_t offset, const char *from, int64_t bytes, const BouncePages &bounce) const;
  int64_t bytes() const { return size; }

private:
  void readPages(int64_t offset, char *to, int64_t count) const;
  void writePages(int64_t offset, const char *from, int64_t count) const;
  [[noreturn]] void refuseSize(int error) const;

  std::string folder;
  int64_t size;
  int descriptor = -1;
  bool isDirect = false; ///< bypasses the page cache
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_SCRATCH_FILE_H
