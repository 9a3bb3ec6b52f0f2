//===- MovedUses.h - Operations that read a value where it was moved to -----------------------===//

#ifndef MTC_PASSES_OFFLOAD_MOVEDUSES_H
#define MTC_PASSES_OFFLOAD_MOVEDUSES_H

#include "ir/Mtc.h"

namespace mtc {

/// Lets operations read `moved` in place of `value`, whose views they may read, too: those are made
/// anew in front of the first of them. Users are given in their order.
void readMoved(mlir::RewriterBase &rewriter, mlir::ArrayRef<mlir::Operation *> users,
               mlir::Value value, mlir::Value moved);

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_MOVEDUSES_H
