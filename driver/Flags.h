//===- Flags.h - Commands and flags of mtc ----------------------------------------------------===//

#ifndef MTC_DRIVER_FLAGS_H
#define MTC_DRIVER_FLAGS_H

#include "driver/FlagTable.h"

namespace mtc::tool {

/// A command with a model and flags.
struct CommandText {
  Command command;
  llvm::StringLiteral name, operand, summary;
};

/// A command without a model, which only prints.
struct PrintCommandText {
  llvm::StringLiteral name, operand, summary;
};

llvm::ArrayRef<CommandText> getCommands();
llvm::ArrayRef<PrintCommandText> getPrintCommands();
const CommandText &textOf(Command command);

/// Returns the flags of all commands, in the order of their help.
FlagTable &getFlags();
/// Returns the flags of one command, including --help and --help-all.
std::vector<command_line::Flag> describeFlags(Command command);

/// Returns the given flags that `command` has, as shell words with a leading space.
std::string spellGivenFlags(Command command);
/// Returns a shell word, quoted if it contains special characters.
std::string quoteForShell(llvm::StringRef word);

} // namespace mtc::tool

#endif // MTC_DRIVER_FLAGS_H
