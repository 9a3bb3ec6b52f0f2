// Opens files that other processes made.
#include "runtime/io/shared_file.h"

#include "runtime/io/durable_file.h"
#include "runtime/support/failure.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {

std::unique_ptr<SharedFile> SharedFile::open(const std::string &path, uint64_t number) {
  // The file is not opened for reading, because a file system that may read a page in order to
  // change a part of it writes the whole page back.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0)
    return nullptr;
  std::unique_ptr<SharedFile> file(new SharedFile(path, descriptor));
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_ino != number)
    return nullptr;
  return file;
}

SharedFile::SharedFile(std::string path, int descriptor)
    : path(std::move(path)), descriptor(descriptor), writer(descriptor) {}

SharedFile::~SharedFile() { close(descriptor); }

void SharedFile::check(int error) const {
  if (error)
    systemError(path, ": cannot be written: ", describeWriteError(error));
}

void SharedFile::write(int64_t offset, const void *data, int64_t bytes) {
  check(writer.write(offset, data, bytes));
}

void SharedFile::sync() { check(writer.sync()); }

uint64_t fileNumber(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

} // namespace mtc::runtime
