//===- KernelSlice.h - One result of a kernel computed alone ----------------------------------===//

#ifndef MTC_PASSES_KERNELS_KERNELSLICE_H
#define MTC_PASSES_KERNELS_KERNELSLICE_H

#include "ir/Mtc.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mtc {

/// Whether a value need not be computed for a reader's sake.
using IsAvailable = llvm::function_ref<bool(mlir::Value)>;

/// A kernel that computes one result of another one alone, to the same bits, at the builder's
/// insertion point. Where the inputs that it takes are not all available, or it would have to
/// reduce, it starts from those of the other results that are available and stored as they are
/// computed: a normalized row from the centred one and its deviation. Null where the result cannot
/// be computed apart: one that needs a reduction, that points add to, or that an index check stands
/// in front of.
KernelOp sliceKernel(mlir::OpBuilder &builder, KernelOp kernel, unsigned result,
                     IsAvailable isAvailable);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_KERNELSLICE_H
