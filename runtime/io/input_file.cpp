// Reads files with pread.
#include "runtime/io/input_file.h"

#include "runtime/support/failure.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {

/// Returns the kind of a file that is not regular.
static const char *describeFileType(mode_t mode) {
  if (S_ISDIR(mode))
    return "a folder";
  if (S_ISFIFO(mode))
    return "a pipe";
  if (S_ISSOCK(mode))
    return "a socket";
  return "a device";
}

InputFile::InputFile(std::string path) : name(std::move(path)) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  descriptor = open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    userError(name, ": cannot be opened: ", std::strerror(errno),
              errno == EMFILE ? "; raise the limit with 'ulimit -n', or join the files" : "");
  struct stat status;
  const int failure = fstat(descriptor, &status) == 0 ? 0 : errno;
  if (failure != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    descriptor = -1;
    if (failure != 0)
      userError(name, ": cannot be opened: ", std::strerror(failure));
    userError(name, ": is ", describeFileType(status.st_mode), ", not a regular file");
  }
  length = status.st_size;
}

InputFile::~InputFile() {
  if (descriptor >= 0)
    close(descriptor);
}

void InputFile::read(int64_t offset, void *to, int64_t bytes) const {
  char *position = static_cast<char *>(to);
  while (bytes > 0) {
    ssize_t got = pread(descriptor, position, static_cast<size_t>(bytes), offset);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      systemError(name, ": cannot be read at byte ", offset, ": ", std::strerror(errno));
    if (got == 0)
      userError(name, ": ends at byte ", offset, ", ", bytes,
                " bytes before the end that its header or its size at the start promised");
    position += got;
    offset += got;
    bytes -= got;
  }
}

} // namespace mtc::runtime
