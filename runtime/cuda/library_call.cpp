// What the compiler asks about calls of the target `cuda`.
#include "runtime/abi/cuda_library_call.h"

#include "runtime/cuda/dnn_attention_plan.h"
#include "runtime/cuda/matmul_plan.h"

using mtc::runtime::cuda::MatmulPlan;

static std::optional<MatmulPlan> planOf(uint32_t kind, const void *description) {
  if (kind != MTC_CONTRACTION)
    return std::nullopt;
  return mtc::runtime::cuda::planMatmul(*static_cast<const MtcContraction *>(description));
}

extern "C" int64_t mtc_cuda_call_scratch_bytes(uint32_t kind, const void *description) {
  if (kind == MTC_ATTENTION || kind == MTC_ATTENTION_GRADIENT)
    return mtc::runtime::cuda::planDnnAttention(*static_cast<const MtcAttention *>(description),
                                                kind == MTC_ATTENTION_GRADIENT)
        .value_or(-1);
  std::optional<MatmulPlan> plan = planOf(kind, description);
  return plan ? mtc::runtime::cuda::workspaceBytes(*plan) : -1;
}

extern "C" int mtc_cuda_call_rate(uint32_t kind, const void *description) {
  std::optional<MatmulPlan> plan = planOf(kind, description);
  return !plan ? 0 : plan->calls() > 1 ? 1 : 2;
}
