//===- SharedHeads.h - Grouped-query attention ------------------------------------------------===//

#ifndef MTC_PASSES_ATTENTION_SHAREDHEADS_H
#define MTC_PASSES_ATTENTION_SHAREDHEADS_H

#include "mlir/IR/PatternMatch.h"

namespace mtc {

/// Adds patterns that remove the repetition of keys and values for each query head of a group
/// (grouped-query attention).
void addSharedHeadPatterns(mlir::RewritePatternSet &patterns);

} // namespace mtc

#endif // MTC_PASSES_ATTENTION_SHAREDHEADS_H
