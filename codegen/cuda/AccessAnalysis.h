//===- AccessAnalysis.h - How a kernel's accesses run along its dims --------------------------===//

#ifndef MTC_CODEGEN_CUDA_ACCESSANALYSIS_H
#define MTC_CODEGEN_CUDA_ACCESSANALYSIS_H

#include "codegen/kernels/KernelAnalysis.h"

namespace mtc::cuda {

/// The product of the dims' extents.
int64_t pointsOf(const NormalKernel &kernel, llvm::ArrayRef<unsigned> dims);

/// The dim among `among` along which memory runs in most accesses, weighed by the points at which
/// they differ; the last of equals. None where no access runs along any.
std::optional<unsigned> contiguousDim(const NormalKernel &kernel, DimSet among);

/// The most points along a dim that a thread can take such that accesses along it are vectors of at
/// most 16 bytes, aligned to their size. `exact`: the extent must be a multiple of it.
int64_t vectorWidth(const NormalKernel &kernel, unsigned dim, bool exact);

/// Loads that differ along any of these dims.
llvm::SmallVector<KernelLoadOp> loadsAlong(const NormalKernel &kernel, DimSet dims);

/// Whether all indices and offsets fit into 32 bits, with room for a grid's stride.
bool fitsInto32Bits(const NormalKernel &kernel);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_ACCESSANALYSIS_H
