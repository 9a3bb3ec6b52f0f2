// Which attention cuDNN computes, and what memory it needs.
#ifndef MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_PLAN_H
#define MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_PLAN_H

#include "runtime/abi/attention.h"
#include "runtime/devices/cuda/call_planner.h"

#include <cstdint>
#include <optional>

namespace mtc::runtime::cuda {

/// Bytes of scratch to plan for cuDNN: first the offsets that a gradient computes (see
/// `offsetsBytes`), then the workspace. Nothing if it is not to compute the call:
///
/// - It has only 16-bit elements, widths that are multiples of 8 and at most 256, and strides that
///   are multiples of 16 bytes.
/// - Where a row has no keys its results are undefined, so there must be neither mask nor bias, and
///   a causal row must have one.
/// - Its gradient gives the same bits in each run only in the form that keeps a number for each
///   pair of a query and a key (the other adds up d_query with atomics). It is taken where these
///   are at most twice the elements of the call's tensors, so that memory grows no faster than the
///   sequence.
/// - The gradient computes the offsets itself, from `out`. There is none of one query and one key.
std::optional<int64_t> planDnnAttention(const MtcAttention &attention, bool isGradient);

/// Of one f32 number for each row, rounded up to MTC_ALIGNMENT.
int64_t offsetsBytes(const MtcAttention &attention);

extern const CallPlanner attentionPlanner, attentionGradientPlanner;

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_CALLS_ATTENTION_CUDA_DNN_ATTENTION_PLAN_H
