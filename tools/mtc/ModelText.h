//===- ModelText.h - A model's description for people -----------------------------------------===//

#ifndef MTC_TOOLS_MTC_MODELTEXT_H
#define MTC_TOOLS_MTC_MODELTEXT_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mtc::tool {

/// Prints the description that `mtc inspect --json` prints as JSON: a summary in which the
/// parameters of equal layers share a line, or with `isVerbose` each initializer with the reason
/// for its role.
void printModel(const llvm::json::Object &description, bool isVerbose, llvm::raw_ostream &os);

} // namespace mtc::tool

#endif // MTC_TOOLS_MTC_MODELTEXT_H
