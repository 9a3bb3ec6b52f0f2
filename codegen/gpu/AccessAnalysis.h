//===- AccessAnalysis.h - Contiguity and alignment of a kernel's accesses ---------------------===//

#ifndef MTC_CODEGEN_GPU_ACCESSANALYSIS_H
#define MTC_CODEGEN_GPU_ACCESSANALYSIS_H

#include "codegen/kernels/KernelAnalysis.h"

namespace mtc::gpu {

/// Returns the product of the dimensions' extents.
int64_t iterationsOf(const NormalKernel &kernel, llvm::ArrayRef<unsigned> dims);

/// Returns the dimension of `among` that is contiguous in most accesses, weighted by bytes
/// accessed; the last one in case of a tie. Returns nullopt if no access is contiguous along any of
/// them.
std::optional<unsigned> contiguousDim(const NormalKernel &kernel, DimSet among);

/// Returns the maximum number of iterations along a dimension per thread such that contiguous
/// accesses are vectors of at most 16 bytes, aligned to their size. With `exact`, the extent must
/// be divisible by the result.
int64_t vectorWidth(const NormalKernel &kernel, unsigned dim, bool exact);

/// Returns whether the order of a kernel's sums must depend on their length only. Column sums have
/// the order of the rows of their kernel.
bool fixesSumOrder(const NormalKernel &kernel);
/// Returns the number of iterations along a reduced dimension per thread in a kernel with a fixed
/// order of sums. It depends on the extent only, so that accesses may be aligned to less.
int64_t fixedVectorWidth(const NormalKernel &kernel, unsigned dim);

/// Returns the loads that depend on any of these dimensions.
llvm::SmallVector<KernelLoadOp> loadsAlong(const NormalKernel &kernel, DimSet dims);

/// Returns whether all indices and offsets, including a margin for the grid's stride, fit into 32
/// bits.
bool fitsInto32Bits(const NormalKernel &kernel);

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_ACCESSANALYSIS_H
