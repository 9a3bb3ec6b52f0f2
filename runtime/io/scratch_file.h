// A file without a name, for what does not stay in memory.
#ifndef MTC_RUNTIME_IO_SCRATCH_FILE_H
#define MTC_RUNTIME_IO_SCRATCH_FILE_H

#include <cstdint>
#include <memory>
#include <string>

namespace mtc::runtime {

/// Memory in whole pages, through which ranges pass that are no whole pages themselves.
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

/// All of its bytes are reserved on the disk when it is made; they are zeros. It has no name, so
/// that nothing of it is left however the process ends. Where the file system allows it, reads and
/// writes pass the system's cache by, and take no memory there. Several threads may read and write
/// different pages at once, each with its own `BouncePages`.
class ScratchFile {
public:
  /// A mistake of the user if `folder` is none that files can be made in, or lies in memory; a
  /// fault of the system that says how much is needed if the disk has no room.
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
  bool isDirect = false; ///< passes the cache by
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_SCRATCH_FILE_H
