//===- Recipe.h - Flags from a file -----------------------------------------------------------===//

#ifndef MTC_DRIVER_RECIPE_H
#define MTC_DRIVER_RECIPE_H

#include "driver/FlagTable.h"

namespace mtc::tool {

/// Gives flags of a command that were not on the command line the values that a TOML file has for
/// them; its keys are the flags' names, an array stands for a flag given several times, a table for
/// NAME=VALUE. Ends with a message that names the file and the key on a mistake.
void applyRecipe(llvm::StringRef path, const FlagTable &flags, Command command);

} // namespace mtc::tool

#endif // MTC_DRIVER_RECIPE_H
