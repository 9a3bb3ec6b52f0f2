//===- OutputFile.cpp - Atomic creation of output files ---------------------------------------===//

#include "support/compiler/OutputFile.h"
#include "support/compiler/Errors.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace llvm;
using namespace mtc::tool;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::error_code lastError() { return errnoAsErrorCode(); }

Expected<OutputFile> OutputFile::create(OutputTarget target) {
  OutputFile file(std::move(target));
  const StringRef folder = path::parent_path(file.target.path);
  // The linker reads names that start with '-' or '@' as options.
  SmallString<256> made(path::is_relative(folder) ? "." : "");
  path::append(made, folder, ".mtc-XXXXXX");
  std::string name = made.str().str();
  // Only the last six characters are a pattern, whatever the folder's name contains.
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0)
    return makeWriteError(file.target.what, lastError());
  file.temporary = std::move(name);
  sys::RemoveFileOnSignal(file.temporary);
  scope_exit close([&] { ::close(descriptor); });
  if (fchmod(descriptor, 0666 & ~fs::getUmask()) != 0)
    return makeWriteError(file.target.what, lastError());
  return file;
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : target(std::move(other.target)), temporary(std::exchange(other.temporary, {})),
      state(other.state) {}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() {
  if (temporary.empty())
    return;
  unlink(temporary.c_str());
  sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
}

static Error writeTo(const std::string &file, const std::string &what, fs::CreationDisposition how,
                     function_ref<void(raw_ostream &)> print) {
  std::error_code code;
  raw_fd_ostream stream(file, code, how);
  if (!code) {
    print(stream);
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  return code ? makeWriteError(what, code) : Error::success();
}

Error OutputFile::write(function_ref<void(raw_ostream &)> print) {
  return writeTo(temporary, target.what, fs::CD_CreateAlways, print);
}

static Error syncPath(const std::string &file, const std::string &what) {
  int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return makeWriteError(what, lastError());
  scope_exit close([&] { ::close(descriptor); });
  // Some file systems do not support fsync, and report EINVAL or EROFS.
  if (fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS)
    return makeWriteError(what, lastError());
  return Error::success();
}

Error OutputFile::sync() { return syncPath(temporary, target.what); }

/// Renames the file to its target. An existing target is exchanged, so that it can be restored.
Error OutputFile::put() {
  auto rename = [&](unsigned flags) {
    return renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.path.c_str(), flags) == 0;
  };
  if (rename(RENAME_EXCHANGE)) {
    state = State::Exchanged;
    return Error::success();
  }
  if (errno == ENOENT && rename(RENAME_NOREPLACE)) {
    state = State::New;
    return Error::success();
  }
  // Some file systems support neither flag; a plain rename cannot be undone.
  if ((errno == EINVAL || errno == ENOSYS) && rename(0)) {
    state = State::Replaced;
    return Error::success();
  }
  return makeWriteError(target.what, lastError());
}

void OutputFile::takeBack() {
  if (state == State::Exchanged)
    renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, target.path.c_str(), RENAME_EXCHANGE);
  else if (state == State::New)
    unlink(target.path.c_str());
  state = State::Made;
}

Error mtc::tool::commit(MutableArrayRef<OutputFile> files) {
  for (OutputFile &file : files)
    if (Error error = file.sync())
      return error;
  for (auto [i, file] : enumerate(files))
    if (Error error = file.put()) {
      for (OutputFile &earlier : reverse(files.take_front(i)))
        earlier.takeBack();
      return error;
    }
  std::set<std::string> folders;
  for (OutputFile &file : files) {
    file.discard(); // removes the replaced file, if any
    folders.insert(path::parent_path(file.target.path).str());
  }
  for (const std::string &folder : folders)
    if (Error error = syncPath(folder, folder))
      return error;
  return Error::success();
}

/// Writes to a device or pipe. The process's own streams are used if they are the target, so that
/// output stays in order.
static Error writeStream(const OutputTarget &target, function_ref<void(raw_ostream &)> print) {
  fs::UniqueID id;
  if (std::error_code code = fs::getUniqueID(target.path, id))
    return makeWriteError(target.what, code);
  for (auto [stream, fd] : {std::pair(&outs(), STDOUT_FILENO), std::pair(&errs(), STDERR_FILENO)})
    if (fs::file_status status; !fs::status(fd, status) && status.getUniqueID() == id) {
      print(*stream);
      stream->flush();
      if (std::error_code code = stream->error()) {
        stream->clear_error();
        return makeWriteError(target.what, code);
      }
      return Error::success();
    }
  return writeTo(target.path, target.what, fs::CD_OpenExisting, print);
}

Error mtc::tool::addOutput(std::vector<OutputFile> &files, const OutputTarget &target,
                           function_ref<void(raw_ostream &)> print) {
  if (!target.isReplaced)
    return writeStream(target, print);
  Expected<OutputFile> file = OutputFile::create(target);
  if (!file)
    return file.takeError();
  files.push_back(std::move(*file));
  return files.back().write(print);
}

Error mtc::tool::writeOutput(const OutputTarget &target, function_ref<void(raw_ostream &)> print) {
  std::vector<OutputFile> files;
  if (Error error = addOutput(files, target, print))
    return error;
  return commit(files);
}
