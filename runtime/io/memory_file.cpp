#include "runtime/io/memory_file.h"

#include "runtime/support/failure.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace mtc::runtime {

std::shared_ptr<InputFile> openMemory(const std::string &name, const void *bytes, size_t count) {
  const int descriptor = memfd_create("mtc", MFD_CLOEXEC);
  if (descriptor < 0)
    systemError(name, ": no file can be created in memory: ", std::strerror(errno));
  auto file = std::make_shared<InputFile>(name, descriptor, static_cast<int64_t>(count));
  const char *from = static_cast<const char *>(bytes);
  while (count > 0) {
    const ssize_t done = ::write(descriptor, from, count);
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      systemError(name, ": cannot be written to memory: ", std::strerror(errno));
    from += done;
    count -= static_cast<size_t>(done);
  }
  return file;
}

} // namespace mtc::runtime
