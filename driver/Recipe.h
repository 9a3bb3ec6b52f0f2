//===- Recipe.h - Flags from a file -----------------------------------------------------------===//

#ifndef MTC_DRIVER_RECIPE_H
#define MTC_DRIVER_RECIPE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace llvm::cl {
class Option;
class SubCommand;
} // namespace llvm::cl

namespace mtc::tool {

/// Gives flags of a command that were not on the command line the values that a TOML file has for
/// them; its keys are the flags' names, an array stands for a flag given several times, a table for
/// NAME=VALUE. Of the flags for which `pairsOf` gives a list, whose entries are NAME=VALUE, each
/// name counts by itself. Ends with a message that names the file and the key on a mistake.
void applyRecipe(
    llvm::StringRef path, llvm::cl::SubCommand &command,
    llvm::function_ref<const std::vector<std::string> *(const llvm::cl::Option &)> pairsOf);

} // namespace mtc::tool

#endif // MTC_DRIVER_RECIPE_H
