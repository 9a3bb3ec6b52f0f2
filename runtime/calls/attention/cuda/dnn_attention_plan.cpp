// Requirements of cuDNN.
#include "runtime/calls/attention/cuda/dnn_attention_plan.h"

#include "runtime/devices/cuda/workspace.h"

namespace mtc::runtime::cuda {

static int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Returns whether each row of a tensor starts at a multiple of 16 bytes if the first row does.
static bool isAligned(const int64_t (&strides)[4], int64_t heads, int64_t length,
                      const MtcAttention &a) {
  const int64_t extents[3] = {a.batch, heads, length};
  for (int axis = 0; axis < 3; ++axis)
    if (extents[axis] > 1 && (strides[axis] <= 0 || strides[axis] % 8 != 0))
      return false;
  return strides[3] == 1;
}

static bool areAligned(const MtcAttention &a, bool isGradient) {
  bool result =
      isAligned(a.query, a.heads, a.queries, a) && isAligned(a.key, a.key_heads, a.keys, a) &&
      isAligned(a.value, a.key_heads, a.keys, a) && isAligned(a.out, a.heads, a.queries, a);
  if (isGradient)
    result = result && isAligned(a.saved_out, a.heads, a.queries, a) &&
             isAligned(a.d_query, a.heads, a.queries, a) &&
             isAligned(a.d_key, a.key_heads, a.keys, a) &&
             isAligned(a.d_value, a.key_heads, a.keys, a);
  return result;
}

static bool isWidth(int64_t width) { return width > 0 && width % 8 == 0 && width <= 256; }

int64_t offsetsBytes(const MtcAttention &a) {
  return roundUp(a.batch * a.heads * a.queries * 4, MTC_ALIGNMENT);
}

std::optional<int64_t> planDnnAttention(const MtcAttention &a, bool isGradient) {
  const bool isHalf = mtc_is_narrow_float(a.type);
  const bool isEmpty = a.batch <= 0 || a.heads <= 0 || a.queries <= 0 || a.keys <= 0;
  if (!isHalf || isEmpty || !isWidth(a.width) || !isWidth(a.value_width) || a.has_bias ||
      a.has_mask || (a.is_causal && a.causal_offset < 0) || !areAligned(a, isGradient))
    return std::nullopt;
  // Space for counters and descriptors of the kernels, and for aligning the workspace.
  constexpr int64_t ownBytes = 256 + workspaceSlack;
  if (!isGradient)
    return ownBytes;
  if (!a.has_out || (a.queries == 1 && a.keys == 1))
    return std::nullopt;
  constexpr int64_t elementBytes = 2, tile = 128;
  const int64_t lines = 2 * a.batch * (a.heads * a.queries + a.key_heads * a.keys);
  if (a.batch * a.heads * a.queries * a.keys > 2 * lines * (a.width + a.value_width))
    return std::nullopt;
  const int64_t pairs =
      a.batch * a.heads * roundUp(a.queries, tile) * roundUp(a.keys, tile) * elementBytes;
  // Gradients of keys and values per head, before the reduction over heads that share a key/value
  // head.
  const int64_t perHead = a.heads == a.key_heads ? 0
                                                 : a.batch * a.heads * a.keys *
                                                       (a.width + a.value_width) * elementBytes;
  return offsetsBytes(a) + roundUp(pairs + perHead + ownBytes, MTC_ALIGNMENT);
}

template <bool isGradient> static int64_t scratchBytes(const void *record) {
  return planDnnAttention(*static_cast<const MtcAttention *>(record), isGradient).value_or(-1);
}

/// cuDNN is optional: it is used only for calls for which the program has its own code.
static int supportLevel(const void *, MtcCudaPrecision) { return 0; }

const CallPlanner attentionPlanner = {MTC_ATTENTION, "cudnn", scratchBytes<false>, supportLevel};
const CallPlanner attentionGradientPlanner = {MTC_ATTENTION_GRADIENT, "cudnn", scratchBytes<true>,
                                              supportLevel};

} // namespace mtc::runtime::cuda
