//===- OutputPolicy.cpp - Rules for replacing files by outputs --------------------------------===//

#include "support/compiler/OutputPolicy.h"
#include "support/compiler/Errors.h"
#include "support/compiler/WrittenByMtc.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

#include <unistd.h>

using namespace llvm;
using namespace mtc::tool;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

void OutputPolicy::addInput(StringRef role, fs::UniqueID id) { inputs.push_back({role.str(), id}); }

void OutputPolicy::addInput(StringRef role, StringRef path) {
  fs::UniqueID id;
  if (!fs::getUniqueID(path, id))
    addInput(role, id);
}

/// Returns the path of a new file in the real path of its folder.
static Expected<std::string> newFile(const std::string &what, StringRef file) {
  StringRef name = path::filename(file), folder = path::parent_path(file);
  if (name.empty() || name == "." || name == ".." || file.ends_with("/"))
    return makeUserError(what + ": not a file name");
  SmallString<256> real;
  if (std::error_code code = fs::real_path(folder.empty() ? "." : folder, real))
    return makeWriteError(what, code);
  path::append(real, name);
  return real.str().str();
}

/// Returns whether the file is the process's standard output or error: `/dev/stdout`.
static bool isOpenStream(const fs::file_status &status) {
  return llvm::any_of(ArrayRef<int>{STDOUT_FILENO, STDERR_FILENO}, [&](int stream) {
    fs::file_status open;
    return !fs::status(stream, open) && open.getUniqueID() == status.getUniqueID();
  });
}

Expected<OutputTarget> OutputPolicy::resolve(const Twine &name, StringRef file,
                                             bool isStream) const {
  std::string what = name.str();
  fs::file_status link, status;
  std::error_code code = fs::status(file, status);
  if (code == std::errc::no_such_file_or_directory) {
    if (!fs::status(file, link, /*follow=*/false))
      return makeUserError(what +
                           ": is a broken symbolic link; remove the link or choose another name");
    Expected<std::string> target = newFile(what, file);
    if (!target)
      return target.takeError();
    return OutputTarget{what, file.str(), std::move(*target)};
  }
  if (code)
    return makeWriteError(what, code);
  for (const Input &input : inputs)
    if (input.id == status.getUniqueID())
      return makeUserError(what + ": is " + input.role +
                           ", an input of this run; choose another name");
  if (status.type() == fs::file_type::directory_file)
    return makeUserError(what + ": is a folder; choose another name");
  if (status.type() == fs::file_type::socket_file)
    return makeUserError(what + ": is a socket; choose another name");
  if (isStream && (status.type() != fs::file_type::regular_file || isOpenStream(status)))
    return OutputTarget{what, file.str(), file.str(), /*isReplaced=*/false};
  if (status.type() != fs::file_type::regular_file)
    return makeUserError(what + ": is a device or a pipe; expected a regular file");
  SmallString<256> real;
  if (std::error_code error = fs::real_path(file, real))
    return makeWriteError(what, error);
  if (!isForced && status.getSize() > 0 && !isWrittenByMtc(real))
    return makeUserError(
        what +
        ": exists, and mtc did not write it; choose another name, or replace it with --force");
  bool isLink =
      !fs::status(file, link, /*follow=*/false) && link.type() == fs::file_type::symlink_file;
  return OutputTarget{what, isLink ? real.str().str() : file.str(), real.str().str()};
}

Expected<OutputTarget> OutputPolicy::add(const Twine &what, StringRef file, bool isStream) {
  Expected<OutputTarget> target = resolve(what, file, isStream);
  if (!target)
    return target;
  for (const OutputTarget &other : targets)
    if (other.path == target->path && target->isReplaced)
      return makeUserError(target->what + ": is the same file as " + other.what +
                           "; choose another name");
  targets.push_back(*target);
  return target;
}
