//===- Recipe.h - Flags from a recipe file ----------------------------------------------------===//

#ifndef MTC_DRIVER_RECIPE_H
#define MTC_DRIVER_RECIPE_H

#include "driver/FlagTable.h"

namespace mtc::tool {

/// Sets the flags of a command that are not on the command line from a TOML file. Keys are flag
/// names; an array represents repeated flags, and a table represents NAME=VALUE pairs. On an error,
/// prints a message with the file and the key and exits.
void applyRecipe(llvm::StringRef path, const FlagTable &flags, Command command);

} // namespace mtc::tool

#endif // MTC_DRIVER_RECIPE_H
