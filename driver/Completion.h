//===- Completion.h - Completion of command lines in shells -----------------------------------===//

#ifndef MTC_DRIVER_COMPLETION_H
#define MTC_DRIVER_COMPLETION_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace mtc::tool {

/// The script that makes a shell (bash, zsh or fish) complete commands, flags and their choices;
/// nothing for another shell.
std::optional<std::string> completionScript(llvm::StringRef shell);

} // namespace mtc::tool

#endif // MTC_DRIVER_COMPLETION_H
