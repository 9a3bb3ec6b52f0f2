//===- Commands.h - Subcommands of mtc --------------------------------------------------------===//

#ifndef MTC_TOOLS_MTC_COMMANDS_H
#define MTC_TOOLS_MTC_COMMANDS_H

#include "driver/Compilation.h"

namespace mtc::tool {

/// The subcommands return the process's exit code: 0 success, 1 user error, 2 system error.
int compile(const Options &options, Compilation &compilation);
int plan(const Options &options, Compilation &compilation);
int writeGradient(const Options &options);
int inspect(const Options &options);
int sweep(const Options &options);

/// Runs lld with the arguments of a command line, whose first word is `ld.lld`.
int runLinker(int argc, char **argv);

} // namespace mtc::tool

#endif // MTC_TOOLS_MTC_COMMANDS_H
