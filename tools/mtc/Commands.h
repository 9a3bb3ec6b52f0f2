//===- Commands.h - What mtc does -------------------------------------------------------------===//

#ifndef MTC_TOOLS_MTC_COMMANDS_H
#define MTC_TOOLS_MTC_COMMANDS_H

#include "driver/Compilation.h"

namespace mtc::tool {

/// Each returns the process's exit code: 0 done, 1 the user's input, 2 a fault of the system.
int compile(Options &options, Compilation &compilation, const char *executable);
int plan(const Options &options, Compilation &compilation);
int inspect(const Options &options);

} // namespace mtc::tool

#endif // MTC_TOOLS_MTC_COMMANDS_H
