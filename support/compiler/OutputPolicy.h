//===- OutputPolicy.h - Rules for replacing files by outputs ----------------------------------===//

#ifndef MTC_SUPPORT_COMPILER_OUTPUTPOLICY_H
#define MTC_SUPPORT_COMPILER_OUTPUTPOLICY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"

#include <string>
#include <vector>

namespace mtc::tool {

/// The resolved destination of an output.
struct OutputTarget {
  std::string what;       ///< name in messages: "-o train"
  std::string name;       ///< as given by the user; resolved if it is a symbolic link
  std::string path;       ///< absolute, without symbolic links
  bool isReplaced = true; ///< false for devices and pipes, which are written directly
};

/// The rules for the outputs of one run. An output replaces regular files only; it never replaces
/// an input of the run, and files that mtc did not write only if the user forces it. Two outputs
/// cannot be the same file.
class OutputPolicy {
public:
  explicit OutputPolicy(bool isForced) : isForced(isForced) {}

  /// Registers an input of the run by file identity, so that links to it are recognized. `role`
  /// names it in messages ("the model").
  void addInput(llvm::StringRef role, llvm::sys::fs::UniqueID id);
  /// Registers an input by path. Has no effect if the file does not exist.
  void addInput(llvm::StringRef role, llvm::StringRef path);

  /// Returns the destination of an output, or a user error if it is not allowed. `what` names the
  /// output in messages. With `isStream`, devices and pipes are allowed and written directly.
  llvm::Expected<OutputTarget> resolve(const llvm::Twine &what, llvm::StringRef path,
                                       bool isStream) const;
  /// Resolves an output and reserves its destination, so that no later output can use it.
  llvm::Expected<OutputTarget> add(const llvm::Twine &what, llvm::StringRef path, bool isStream);

private:
  struct Input {
    std::string role;
    llvm::sys::fs::UniqueID id;
  };

  bool isForced;
  std::vector<Input> inputs;
  std::vector<OutputTarget> targets;
};

} // namespace mtc::tool

#endif // MTC_SUPPORT_COMPILER_OUTPUTPOLICY_H
