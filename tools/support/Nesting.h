//===- Nesting.h - How deep the brackets of a text nest ---------------------------------------===//

#ifndef MTC_TOOLS_SUPPORT_NESTING_H
#define MTC_TOOLS_SUPPORT_NESTING_H

#include "llvm/ADT/StringRef.h"

namespace mtc::tool {

/// Whether no bracket of a text, JSON's or MLIR's, is inside of `maxDepth` others; those in strings
/// and comments do not count. LLVM's JSON parser and MLIR's parser recurse for each level, so that
/// deeper texts would exhaust the stack.
bool nestsWithin(llvm::StringRef text, int maxDepth);

} // namespace mtc::tool

#endif // MTC_TOOLS_SUPPORT_NESTING_H
