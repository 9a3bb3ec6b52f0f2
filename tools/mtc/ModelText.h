//===- ModelText.h - A model's description for people -----------------------------------------===//

#ifndef MTC_TOOLS_MTC_MODELTEXT_H
#define MTC_TOOLS_MTC_MODELTEXT_H

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mtc::tool {

/// Prints, as text, the description that `mtc inspect --json` prints as JSON. In the summary, the
/// parameters of equal layers share a line; with `isVerbose`, each initializer is listed with the
/// reason for its role.
void printModel(const llvm::json::Object &description, bool isVerbose, llvm::raw_ostream &os);

} // namespace mtc::tool

#endif // MTC_TOOLS_MTC_MODELTEXT_H
