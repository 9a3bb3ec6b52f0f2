//===- InputFile.cpp - Input files of the compiler --------------------------------------------===//

#include "support/compiler/InputFile.h"

#include "support/compiler/Problems.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace llvm;

namespace mtc {

/// Files of at most this size are copied, so that concurrent writes have no effect; larger files
/// are mapped.
static constexpr uint64_t maxCopiedBytes = uint64_t(16) << 20;

StringRef describeFileType(mode_t mode) {
  if (S_ISDIR(mode))
    return "a folder";
  if (S_ISFIFO(mode))
    return "a pipe";
  if (S_ISSOCK(mode))
    return "a socket";
  return "a device";
}

static Error openFailure(int code) { return problem("cannot be opened: " + Twine(strerror(code))); }

static Error checkType(const struct stat &status) {
  if (S_ISREG(status.st_mode))
    return Error::success();
  return problem("is " + describeFileType(status.st_mode) + ", not a regular file");
}

/// Opens a regular file and returns its descriptor and status.
static Expected<int> openRegular(StringRef path, struct stat &status) {
  if (path.empty())
    return problem("is empty, expected the name of a file");
  if (path.contains('\0'))
    return problem("contains a zero byte, expected the name of a file");
  std::string name = path.str();
  // Check the type before opening, because opening some devices has side effects, and sockets
  // cannot be opened.
  if (stat(name.c_str(), &status) != 0)
    return openFailure(errno);
  if (Error error = checkType(status))
    return error;
  // If a pipe replaced the file concurrently, open would wait for a writer without O_NONBLOCK.
  int file = open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0)
    return openFailure(errno);
  if (fstat(file, &status) != 0) {
    int code = errno;
    close(file);
    return openFailure(code);
  }
  if (Error error = checkType(status)) {
    close(file);
    return error;
  }
  return file;
}

Expected<InputFile> readInputFile(StringRef path, uint64_t maxBytes, FileForm form) {
  struct stat status;
  Expected<int> file = openRegular(path, status);
  if (!file)
    return file.takeError();
  scope_exit closeFile([&] { close(*file); });
  auto size = static_cast<uint64_t>(status.st_size);
  // Files in /proc report a size of 0 although they have contents.
  char first;
  ssize_t got = size == 0 ? pread(*file, &first, 1, 0) : 0;
  if (got < 0)
    return problem("cannot be read: " + Twine(strerror(errno)));
  if (got > 0)
    return problem("has more bytes than its size, like files in /proc; use a copy");
  if (size > maxBytes)
    return problem("has " + Twine(size) + " bytes, expected at most " + Twine(maxBytes));
  auto content = MemoryBuffer::getOpenFile(*file, path, size,
                                           /*RequiresNullTerminator=*/form == FileForm::Text,
                                           /*IsVolatile=*/size <= maxCopiedBytes);
  if (!content)
    return problem("cannot be read: " + content.getError().message());
  return InputFile{std::move(*content), sys::fs::UniqueID(status.st_dev, status.st_ino)};
}

bool fileStartsWith(StringRef path, StringRef bytes) {
  struct stat status;
  Expected<int> file = openRegular(path, status);
  if (!file) {
    consumeError(file.takeError());
    return false;
  }
  scope_exit closeFile([&] { close(*file); });
  std::string start(bytes.size(), '\0');
  ssize_t got = pread(*file, start.data(), start.size(), 0);
  return got == static_cast<ssize_t>(start.size()) && start == bytes;
}

} // namespace mtc
