//===- Completion.h - Shell completion scripts ------------------------------------------------===//

#ifndef MTC_DRIVER_COMPLETION_H
#define MTC_DRIVER_COMPLETION_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mtc::tool {

/// Returns the script that completes commands, flags and their choices in bash, zsh or fish, or
/// nothing for other shells.
std::optional<std::string> completionScript(llvm::StringRef shell);

} // namespace mtc::tool

#endif // MTC_DRIVER_COMPLETION_H
