//===- FormKernels.h - Kernels for operations, for a target -----------------------------------===//

#ifndef MTC_PASSES_KERNELS_FORMKERNELS_H
#define MTC_PASSES_KERNELS_FORMKERNELS_H

#include "passes/memory/TargetInfo.h"

#include "mlir/Pass/Pass.h"

namespace mtc {

/// The pass `mtc-form-kernels`; library calls that the target is faster at as kernels become such.
std::unique_ptr<mlir::Pass> createFormKernelsPass(TargetInfo target);

} // namespace mtc

#endif // MTC_PASSES_KERNELS_FORMKERNELS_H
