// There is one system call for each record, unless the system accepts only a part of it.
#include "runtime/io/appended_file.h"

#include "runtime/support/failure.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {

AppendedFile::AppendedFile(const std::string &path, std::string name, Existing existing)
    : name(std::move(name)) {
  const int more = existing == Existing::Emptied   ? O_TRUNC
                   : existing == Existing::Refused ? O_EXCL
                                                   : 0;
  descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | more, 0666);
  if (descriptor < 0 && errno == EEXIST && existing == Existing::Refused)
    throw FileExists();
  if (descriptor < 0)
    userError(this->name, ": cannot be written: ", std::strerror(errno));
}

AppendedFile::~AppendedFile() { close(descriptor); }

void AppendedFile::append(std::string_view record) {
  for (size_t done = 0; done < record.size();) {
    const ssize_t written = write(descriptor, record.data() + done, record.size() - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : EIO;
      dropEnd(static_cast<int64_t>(done));
      systemError(name, ": cannot be written: ", std::strerror(error));
    }
    done += static_cast<size_t>(written);
  }
}

void AppendedFile::truncate(int64_t bytes) {
  if (ftruncate(descriptor, bytes) != 0 && errno != EINVAL)
    systemError(name, ": cannot be shortened: ", std::strerror(errno));
}

/// Removes a partial record, written before the disk became full, which readers could not parse.
void AppendedFile::dropEnd(int64_t bytes) {
  struct stat status;
  if (bytes > 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) [[maybe_unused]]
    int ignored = ftruncate(descriptor, status.st_size - bytes);
}

} // namespace mtc::runtime
