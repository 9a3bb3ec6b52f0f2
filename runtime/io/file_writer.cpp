// At most two batches of written bytes wait for the disk.
#include "runtime/io/file_writer.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace mtc::runtime {

constexpr int64_t batchBytes = 32 << 20;

int FileWriter::reserve(int64_t bytes) {
  int result;
  do
    result = fallocate(descriptor, 0, 0, bytes);
  while (result != 0 && errno == EINTR);
  if (result == 0)
    return 0;
  if (errno != EOPNOTSUPP && errno != ENOSYS)
    return errno;
  return ftruncate(descriptor, bytes) == 0 ? 0 : errno;
}

int FileWriter::write(int64_t offset, const void *data, int64_t bytes) {
  const char *position = static_cast<const char *>(data);
  waiting += bytes;
  while (bytes > 0) {
    const ssize_t written = pwrite(descriptor, position, static_cast<size_t>(bytes), offset);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return written < 0 ? errno : EIO;
    position += written;
    offset += written;
    bytes -= written;
  }
  if (waiting < batchBytes)
    return 0;
  waiting = 0;
  // Waits for the transfer of the previous batch, and starts that of this one. An error of the disk
  // is reported once, here or by fsync.
  if (sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE) == 0 ||
      errno == EINVAL || errno == ESPIPE || errno == ENOSYS)
    return 0;
  return errno;
}

int FileWriter::sync() {
  waiting = 0;
  return fsync(descriptor) == 0 ? 0 : errno;
}

} // namespace mtc::runtime
