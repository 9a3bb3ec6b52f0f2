//===- OutputPolicy.h - What outputs may replace ----------------------------------------------===//

#ifndef MTC_TOOLS_SUPPORT_OUTPUTPOLICY_H
#define MTC_TOOLS_SUPPORT_OUTPUTPOLICY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"

#include <string>
#include <vector>

namespace mtc::tool {

/// Where an output goes.
struct OutputTarget {
  std::string what;       ///< as messages name it: "-o train"
  std::string name;       ///< as the user gave it; of the file itself where that is a link
  std::string path;       ///< absolute, without links
  bool isReplaced = true; ///< false: a device or a pipe, which is written as it is
};

/// The rules of one run. An output replaces regular files only, never one that the run reads, and
/// none that mtc did not write unless the user forces it. Two outputs are two files.
class OutputPolicy {
public:
  explicit OutputPolicy(bool isForced) : isForced(isForced) {}

  /// A file that the run reads, by whatever name or link; `role` names it in messages ("the
  /// model").
  void addInput(llvm::StringRef role, llvm::sys::fs::UniqueID id);
  /// The same by path; nothing where no file is.
  void addInput(llvm::StringRef role, llvm::StringRef path);

  /// Where an output of this path may go, or a mistake of the user's that says why it may not.
  /// `what` names it in messages. With `isStream` a device or a pipe is written to as it is.
  llvm::Expected<OutputTarget> resolve(const llvm::Twine &what, llvm::StringRef path,
                                       bool isStream) const;
  /// The same, and no later output may have the same target.
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

#endif // MTC_TOOLS_SUPPORT_OUTPUTPOLICY_H
