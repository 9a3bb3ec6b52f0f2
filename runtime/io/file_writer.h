// Writes to a descriptor, with early transfer to the disk.
#ifndef MTC_RUNTIME_IO_FILE_WRITER_H
#define MTC_RUNTIME_IO_FILE_WRITER_H

#include <cstdint>

namespace mtc::runtime {

/// Writes to a file that the caller has opened and closes. The system transfers earlier bytes to
/// the disk while later bytes are written, so that `sync` at the end takes little time even for
/// large files. This matters because other ranks wait for it with a time limit.
class FileWriter {
public:
  explicit FileWriter(int descriptor) : descriptor(descriptor) {}

  /// Sets the size of the file and reserves its disk blocks if the file system can do so. Returns 0
  /// or the errno.
  int reserve(int64_t bytes);
  /// Returns 0 or the errno.
  int write(int64_t offset, const void *data, int64_t bytes);
  /// Makes all bytes durable. Returns 0 or the errno.
  int sync();

private:
  int descriptor;
  int64_t waiting = 0; ///< bytes written since the last transfer was started
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_IO_FILE_WRITER_H
