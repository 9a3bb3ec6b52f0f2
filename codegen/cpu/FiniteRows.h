//===- FiniteRows.h - Rows without elements that are not finite -------------------------------===//

#ifndef MTC_CODEGEN_CPU_FINITEROWS_H
#define MTC_CODEGEN_CPU_FINITEROWS_H

#include "codegen/kernels/KernelAnalysis.h"

namespace mtc::cpu {

/// A condition that elements are finite. The kernel also reduces the magnitudes of the elements and
/// replaces those that are not finite by 0, as the update of quantized optimizer state does. If the
/// maximum magnitudes without the condition are finite, the condition holds in the whole row.
struct FiniteRows {
  mlir::Value condition;                    ///< i1
  llvm::SmallVector<KernelReduceOp> maxima; ///< of the bits of the magnitudes, at level 1
};

/// Returns the condition of a kernel, or nullopt if there is none.
std::optional<FiniteRows> findFiniteRows(const NormalKernel &kernel);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_FINITEROWS_H
