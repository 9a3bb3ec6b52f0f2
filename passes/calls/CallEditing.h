//===- CallEditing.h - What passes that change library calls do -------------------------------===//

#ifndef MTC_PASSES_CALLS_CALLEDITING_H
#define MTC_PASSES_CALLS_CALLEDITING_H

#include "ir/interfaces/TargetInfo.h"
#include "passes/calls/PointOffsets.h"

namespace mtc {

/// Whether a target's library supports one call less well than another, or does not have it.
bool isSupportedLess(const TargetInfo &target, LibraryCallOpInterface call,
                     LibraryCallOpInterface than);

/// Whether a value can be read by `user`. The read of a variable is moved in front of it, where
/// nothing writes the variable in between.
bool makeAvailable(mlir::Value value, mlir::Operation *user);

/// The elements that a kernel over `space` reads of `root` at `offsets`, as a tensor of `type`
/// whose elements lie densely at `own`. Null where no view gives them, or they are of another type.
mlir::Value readAs(mlir::OpBuilder &builder, mlir::Value root, const PointOffsets &offsets,
                   const PointOffsets &own, mlir::RankedTensorType type,
                   llvm::ArrayRef<int64_t> space);

/// A kernel's operand that a load reads.
mlir::Value inputOf(KernelOp kernel, KernelLoadOp load);
/// Where a load without guard and symbols reads its operand; nothing for others.
std::optional<PointOffsets> offsetsOf(KernelOp kernel, KernelLoadOp load);
/// Whether the kernel's operand is read by nothing else, nor are the values that it is a view of.
bool isReadByAlone(KernelOp kernel, mlir::Value input);

} // namespace mtc

#endif // MTC_PASSES_CALLS_CALLEDITING_H
