// Support and workspace queries for attention computed by cuDNN.
#ifndef MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_PLAN_H
#define MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_PLAN_H

#include "runtime/abi/attention.h"
#include "runtime/devices/cuda/call_planner.h"

#include <cstdint>
#include <optional>

namespace mtc::runtime::cuda {

/// Returns the scratch size in bytes to plan for cuDNN: the offsets that a gradient computes (see
/// `offsetsBytes`), then the workspace. Returns nullopt if cuDNN is not to be used for the call.
/// The requirements are:
///
/// - cuDNN supports only 16-bit elements, widths that are multiples of 8 and at most 256, and
///   strides that are multiples of 16 bytes.
/// - Its results are undefined for rows without keys. The call must therefore have neither mask nor
///   bias, and every row of a causal call must have at least one key.
/// - Its gradient is deterministic only in the form that stores one number per (query, key) pair;
///   the other form accumulates d_query with atomics. The deterministic form is used if the pairs
///   are at most twice the elements of the call's tensors, so that memory stays linear in the
///   sequence length.
/// - The gradient computes the offsets itself, from `out`. It does not support a single query and
///   key.
std::optional<int64_t> planDnnAttention(const MtcAttention &attention, bool isGradient);

/// Returns the size of one f32 per row, rounded up to MTC_ALIGNMENT.
int64_t offsetsBytes(const MtcAttention &attention);

extern const CallPlanner attentionPlanner, attentionGradientPlanner;

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_PLAN_H
