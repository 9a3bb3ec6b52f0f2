//===- Nesting.h - Nesting depth of brackets in text ------------------------------------------===//

#ifndef MTC_SUPPORT_COMPILER_NESTING_H
#define MTC_SUPPORT_COMPILER_NESTING_H

#include "llvm/ADT/StringRef.h"

namespace mtc::tool {

/// Returns whether brackets of a JSON or MLIR text are nested at most `maxDepth` deep, not counting
/// those in strings and comments. LLVM's JSON parser and MLIR's parser recurse for each level, so
/// deeper texts would overflow the stack.
bool nestsWithin(llvm::StringRef text, int maxDepth);

} // namespace mtc::tool

#endif // MTC_SUPPORT_COMPILER_NESTING_H
