// The multiplications and the scratch of recurrent layers on the target `cuda`.
#ifndef MTC_RUNTIME_CALLS_RECURRENCE_CUDA_RECURRENCE_PLAN_H
#define MTC_RUNTIME_CALLS_RECURRENCE_CUDA_RECURRENCE_PLAN_H

#include "runtime/abi/recurrence.h"
#include "runtime/calls/contraction/cuda/matmul_plan.h"

#include <cstdint>
#include <vector>

namespace mtc::runtime::cuda {

/// A multiplication of each step: out = lines . weights^T (gradient: lines . weights). The matrices
/// begin at offsets in elements.
struct StepProduct {
  MatmulPlan plan;
  int64_t lines, weights, out;
  bool isStateGradient; ///< out is d_state instead of the products in the scratch
};

/// The weights are read in place, and all multiplications of a step have the same addresses in each
/// step.
struct RecurrencePlan {
  std::vector<StepProduct> products; ///< one for each launch
  /// The parts of the scratch in bytes, in this order.
  int64_t linesBytes, productsBytes, workspaceBytes;

  int64_t scratchBytes() const { return linesBytes + productsBytes + workspaceBytes; }
};

/// The batch and the hidden size must not be 0, and the type must be f32 or f64.
RecurrencePlan planRecurrence(const MtcRecurrence &recurrence, bool isGradient);

extern const CallPlanner recurrencePlanner, recurrenceGradientPlanner;

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_RECURRENCE_CUDA_RECURRENCE_PLAN_H
