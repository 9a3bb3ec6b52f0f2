// Requirements of cuDNN.
#include "runtime/calls/convolution/cuda/dnn_convolution_plan.h"

#include "runtime/devices/cuda/workspace.h"

#include <algorithm>

namespace mtc::runtime::cuda {

static int64_t roundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

static int64_t product(const int64_t *extents, uint32_t count) {
  int64_t result = 1;
  for (uint32_t i = 0; i < count; ++i)
    result *= extents[i];
  return result;
}

std::optional<int64_t> planDnnConvolution(const MtcConvolution &c, Computed computed) {
  const bool isHalf = mtc_is_narrow_float(c.type);
  const bool hasOtherTypes =
      c.result_type != c.type || c.bias_type != c.type || c.addend_type != c.type;
  if ((!isHalf && c.type != MTC_F32) || hasOtherTypes || isEmpty(c) || leavesOutWindows(c) ||
      ((c.has_addend || c.activation != MTC_NO_ACTIVATION) && !c.has_bias) ||
      (isHalf && c.window_rank == 3 && computed == Computed::Weights))
    return std::nullopt;
  const int64_t bytes = isHalf ? 2 : 4;
  auto lineBytes = [&](int64_t channels) { return roundUp(channels * bytes, 16); };
  const int64_t ofInput = c.batch * c.groups * lineBytes(c.input_channels) *
                          product(c.input, c.window_rank),
                ofOutput = c.batch * c.groups * lineBytes(c.output_channels) *
                           product(c.output, c.window_rank),
                ofWeights = c.groups * roundUp(c.output_channels, 16 / bytes) *
                            lineBytes(c.input_channels) * product(c.kernel, c.window_rank);
  constexpr int64_t partialSums = 64, maxPartialBytes = int64_t{32} << 20;
  const int64_t ofPartialSums =
      computed == Computed::Weights
          ? std::min({partialSums * ofWeights, ofInput + ofOutput, maxPartialBytes})
          : 0;
  // Space for counters and descriptors of the kernels, and for aligning the workspace.
  constexpr int64_t ownBytes = 4096;
  static_assert(ownBytes >= workspaceSlack);
  return roundUp(ofInput + ofOutput + ofWeights + ofPartialSums + ownBytes, MTC_ALIGNMENT);
}

namespace {

template <Computed computed> int64_t scratchBytes(const void *record) {
  return planDnnConvolution(*static_cast<const MtcConvolution *>(record), computed).value_or(-1);
}

template <Computed computed> int supportLevel(const void *record, MtcCudaPrecision precision) {
  const auto &c = *static_cast<const MtcConvolution *>(record);
  const bool isExact = c.type == MTC_F32 && precision == MTC_CUDA_F32;
  if (isExact && c.activation != MTC_NO_ACTIVATION)
    return 0;
  return planDnnConvolution(c, computed) ? 2 : 0;
}

template <Computed computed> constexpr CallPlanner plannerOf(const char *name) {
  return {name, "cudnn", scratchBytes<computed>, supportLevel<computed>};
}

} // namespace

const CallPlanner convolutionPlanner = plannerOf<Computed::Output>(MTC_CONVOLUTION);
const CallPlanner transposedConvolutionPlanner =
    plannerOf<Computed::Input>(MTC_TRANSPOSED_CONVOLUTION);
const CallPlanner convolutionWeightGradientPlanner =
    plannerOf<Computed::Weights>(MTC_CONVOLUTION_WEIGHT_GRADIENT);

} // namespace mtc::runtime::cuda
