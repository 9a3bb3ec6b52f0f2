//===- CallEditing.h - Helpers of passes that rewrite library calls ---------------------------===//

#ifndef MTC_PASSES_CALLS_CALLEDITING_H
#define MTC_PASSES_CALLS_CALLEDITING_H

#include "ir/interfaces/TargetInfo.h"
#include "passes/calls/IterationOffsets.h"

namespace mtc {

/// Returns whether a target's library supports `call` less well than `than`, or not at all.
bool isSupportedLess(const TargetInfo &target, LibraryCallOpInterface call,
                     LibraryCallOpInterface than);

/// Returns whether a call stores a 16-bit result, which an epilogue would use before it is rounded,
/// in a program whose bits must not depend on fusion (`fixRounding`).
bool isRoundedWithoutFusion(LibraryCallOpInterface call);

/// Makes a value available before `user`. Returns false if this is impossible. The read of a
/// variable is moved before `user` if nothing writes the variable in between.
bool makeAvailable(mlir::Value value, mlir::Operation *user);

/// Returns the elements of `root` that a kernel over the iteration space `space` reads at
/// `offsets`, as a tensor of `type` whose elements are stored densely at `own`. Returns null if the
/// element types differ or no view represents the access.
mlir::Value readAs(mlir::OpBuilder &builder, mlir::Value root, const IterationOffsets &offsets,
                   const IterationOffsets &own, mlir::RankedTensorType type,
                   llvm::ArrayRef<int64_t> space);

/// Returns the kernel operand that a load reads.
mlir::Value inputOf(KernelOp kernel, KernelLoadOp load);
/// Returns the element offsets of a load without guard and symbols; nothing for other loads.
std::optional<IterationOffsets> offsetsOf(KernelOp kernel, KernelLoadOp load);
/// Returns whether the kernel is the only user of its operand and of all values that the operand is
/// a view of.
bool isReadByAlone(KernelOp kernel, mlir::Value input);

} // namespace mtc

#endif // MTC_PASSES_CALLS_CALLEDITING_H
