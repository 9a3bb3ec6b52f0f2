//===- SharedHeads.h - Keys and values that heads of queries share ----------------------------===//

#ifndef MTC_PASSES_ATTENTION_SHAREDHEADS_H
#define MTC_PASSES_ATTENTION_SHAREDHEADS_H

#include "mlir/IR/PatternMatch.h"

namespace mtc {

/// Lets attention read keys and values that are repeated for heads of queries before they are.
void addSharedHeadPatterns(mlir::RewritePatternSet &patterns);

} // namespace mtc

#endif // MTC_PASSES_ATTENTION_SHAREDHEADS_H
