#include "runtime/io/unnamed_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace mtc::runtime {

int openUnnamedFile(const std::string &folder, int flags) {
  int descriptor = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
    return descriptor;
  // The file system lacks O_TMPFILE: create a named file and unlink it at once.
  std::string name = folder + "/.mtc.XXXXXX";
  descriptor = mkostemp(name.data(), O_CLOEXEC | flags);
  if (descriptor >= 0)
    unlink(name.c_str());
  return descriptor;
}

} // namespace mtc::runtime
