//===- KernelSlice.h - Recomputation of one result of a kernel --------------------------------===//

#ifndef MTC_PASSES_KERNELS_KERNELSLICE_H
#define MTC_PASSES_KERNELS_KERNELSLICE_H

#include "ir/Mtc.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mtc {

/// Whether a value is live at a user in any case.
using IsAvailable = llvm::function_ref<bool(mlir::Value)>;

/// Creates, at the builder's insertion point, a kernel that recomputes one result of another kernel
/// bit-exactly. If not all operands are available, or the kernel would have to reduce, it starts
/// from other results of the original kernel that are available and stored unrounded. For example,
/// it computes a normalized row from the centered row and its deviation. Returns null if the result
/// cannot be recomputed separately, because it requires a reduction, is accumulated over
/// iterations, or follows an index check.
KernelOp sliceKernel(mlir::OpBuilder &builder, KernelOp kernel, unsigned result,
                     IsAvailable isAvailable);

/// Returns the numbers of the inputs that one result depends on, apart from the results in
/// `loaded`.
llvm::SmallVector<unsigned> findInputsOf(KernelOp kernel, unsigned result,
                                         llvm::ArrayRef<unsigned> loaded = {});
/// Returns the numbers of the available results that a slice that computes `result` may load.
llvm::SmallVector<unsigned> findLoadable(KernelOp kernel, unsigned result, IsAvailable isAvailable);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_KERNELSLICE_H
