//===- MovedUses.h - Redirects users of a value to its copy -----------------------------------===//

#ifndef MTC_PASSES_OFFLOAD_MOVEDUSES_H
#define MTC_PASSES_OFFLOAD_MOVEDUSES_H

#include "passes/offload/EditLog.h"

namespace mtc {

/// Replaces `value` by `moved` in `users`, including uses through views, which are cloned before
/// the first user. `users` must be in block order.
void readMoved(EditLog &edits, mlir::ArrayRef<mlir::Operation *> users, mlir::Value value,
               mlir::Value moved);

} // namespace mtc

#endif // MTC_PASSES_OFFLOAD_MOVEDUSES_H
