// flock(2) on a file that only its holder removes.
#include "runtime/io/folder_lock.h"

#include "runtime/support/failure.h"
#include "runtime/support/messages.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {

/// Returns the holder's description of itself, limited to printable characters.
static std::string holderIn(int descriptor) {
  char buffer[200];
  const ssize_t length = pread(descriptor, buffer, sizeof buffer, 0);
  std::string holder;
  for (ssize_t i = 0; i < length && buffer[i] >= ' ' && buffer[i] <= '~'; ++i)
    holder += buffer[i];
  return holder.empty() ? "another process" : holder;
}

static std::string thisProcess() {
  char host[100] = "";
  gethostname(host, sizeof host - 1);
  return text("process ", getpid(), " on ", host, "\n");
}

FolderLock::FolderLock(std::string name) : folder(std::move(name)), path(folder + "/" + fileName) {
  acquire();
}

FolderLock::~FolderLock() {
  if (isInPlace())
    unlink(path.c_str());
  release();
}

void FolderLock::release() {
  if (descriptor >= 0)
    close(std::exchange(descriptor, -1));
}

bool FolderLock::isInPlace() const {
  struct stat opened, named;
  return descriptor >= 0 && fstat(descriptor, &opened) == 0 && lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

void FolderLock::acquire() {
  // The holder may remove the file after it is opened here and before it is locked. A lock on a
  // removed file has no effect, so the lock is retried.
  while (!isInPlace()) {
    release();
    descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor < 0) {
      const int error = errno;
      throw Failure(isFaultOfMachine(error) ? exitSystemFault : exitUserInput,
                    text(path, ": the folder cannot be locked: ", std::strerror(error)));
    }
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      continue;
    const int error = errno;
    if (error == EWOULDBLOCK) {
      const std::string holder = holderIn(descriptor);
      release();
      userError("--save ", folder, ": ", holder,
                " saves into this folder. Wait until it has ended, or save into another folder");
    }
    if (!std::exchange(warned, true))
      warn("--save ", folder, ": the folder cannot be locked: ", std::strerror(error),
           "; let no other program save into it");
    return;
  }
  // A hard link of the file elsewhere would be overwritten too.
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink > 1) {
    release();
    userError(path, ": is not a regular file of one name, as mtc makes it; remove it, or save into "
                    "another folder");
  }
  const std::string holder = thisProcess();
  // The contents are for messages only. A full disk affects the saved data, not the lock.
  [[maybe_unused]] bool isWritten =
      ftruncate(descriptor, 0) == 0 && pwrite(descriptor, holder.data(), holder.size(), 0) > 0;
}

void FolderLock::renew() {
  if (!isInPlace())
    acquire();
}

} // namespace mtc::runtime
