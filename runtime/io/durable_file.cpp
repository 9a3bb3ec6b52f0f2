// Durable writes: temporary file, fsync, rename, fsync of the folder.
#include "runtime/io/durable_file.h"

#include "runtime/io/input_file.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mtc::runtime {

std::string folderOf(const std::string &path) {
  size_t slash = path.find_last_of('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string fileNameOf(const std::string &path) { return path.substr(path.find_last_of('/') + 1); }

void syncFolder(const std::string &folder) {
  int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    systemError(folder, ": cannot be opened: ", std::strerror(errno));
  int result = fsync(descriptor), error = errno;
  close(descriptor);
  // Some file systems cannot sync a folder and return one of these errors.
  if (result != 0 && error != EINVAL && error != EROFS)
    systemError(folder, ": cannot be made durable: ", std::strerror(error));
}

DurableFile::DurableFile(std::string path, Links links) : target(std::move(path)) {
  struct stat status;
  const bool follows = links == Links::Followed;
  bool replaces = (follows ? stat : lstat)(target.c_str(), &status) == 0;
  if (replaces && !follows && S_ISLNK(status.st_mode))
    replaces = false; // The rename replaces the link, whose mode is irrelevant.
  if (replaces && !S_ISREG(status.st_mode))
    userError(target, ": is a folder or a device; expected the name of a file");
  if (char *resolved = replaces ? realpath(target.c_str(), nullptr) : nullptr) {
    target = resolved;
    std::free(resolved);
  }
  static std::atomic<int> counter = 0;
  size_t slash = target.find_last_of('/');
  std::string name = slash == std::string::npos ? target : target.substr(slash + 1);
  temporary = folderOf(target) + "/." + name + "." + std::to_string(getpid()) + "." +
              std::to_string(counter++) + ".tmp";
  descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    int error = errno;
    if (error == ENOENT || error == EACCES || error == ENOTDIR || error == EROFS || error == EPERM)
      userError(target, ": cannot be written: ", std::strerror(error));
    fail("written", error);
  }
  writer.emplace(descriptor);
  if (replaces && fchmod(descriptor, status.st_mode & 07777) != 0)
    fail("given the mode of the file that it replaces", errno);
}

DurableFile::~DurableFile() {
  if (descriptor >= 0) {
    close(descriptor);
    unlink(temporary.c_str());
  }
}

std::string describeWriteError(int error) {
  return error == ENOSPC   ? "the disk is full"
         : error == EDQUOT ? "the disk quota is used up"
                           : std::strerror(error);
}

void DurableFile::fail(const char *action, int error) {
  const bool isFull = error == ENOSPC || error == EDQUOT;
  systemError(target, ": cannot be ", action, ": ", describeWriteError(error),
              "; nothing was replaced", isFull ? ". Free some space, or choose another place" : "");
}

void DurableFile::append(const void *data, int64_t bytes) { write(end, data, bytes); }

void DurableFile::write(int64_t offset, const void *data, int64_t bytes) {
  if (const int error = writer->write(offset, data, bytes))
    fail("written", error);
  end = std::max(end, offset + bytes);
}

void DurableFile::reserve(int64_t bytes) {
  if (const int error = writer->reserve(bytes))
    fail("written", error);
}

void DurableFile::commit() {
  if (const int error = writer->sync())
    fail("made durable", error);
  int closed = close(descriptor), error = errno;
  descriptor = -1;
  if (closed != 0) {
    unlink(temporary.c_str());
    fail("written", error);
  }
  if (rename(temporary.c_str(), target.c_str()) != 0) {
    error = errno;
    unlink(temporary.c_str());
    fail("put in its place", error);
  }
  syncFolder(folderOf(target));
}

void copyFile(const std::string &from, const std::string &to) {
  constexpr int64_t chunk = 1 << 20;
  const InputFile source(from);
  DurableFile copy(to);
  std::vector<char> bytes(static_cast<size_t>(std::min(chunk, source.size())));
  for (int64_t at = 0; at < source.size(); at += chunk) {
    const int64_t count = std::min(chunk, source.size() - at);
    source.read(at, bytes.data(), count);
    copy.append(bytes.data(), count);
  }
  copy.commit();
}

} // namespace mtc::runtime
