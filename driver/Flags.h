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

llvm::ArrayRef<CommandText> getCommands();
const CommandText &textOf(Command command);

/// Returns the flags of all commands, in the order of their help.
FlagTable &getFlags();
/// Returns the flags of one command, including --help and --help-all.
std::vector<command_line::Flag> describeFlags(Command command);

/// The flags that were given and that `command` has, as words of a shell, each after a space.
std::string spellGivenFlags(Command command);
/// A word of a command line, quoted where a shell would change it.
std::string quoteForShell(llvm::StringRef word);

} // namespace mtc::tool

#endif // MTC_DRIVER_FLAGS_H
