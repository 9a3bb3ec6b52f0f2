// Properties of convolutions that all targets share.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_PROBLEM_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_PROBLEM_H

#include "runtime/abi/convolution.h"

#include <algorithm>
#include <cstdint>

namespace mtc::runtime {

/// The tensor that a call computes from the other two.
enum class Computed { Output, Input, Weights };

/// Returns the padding after the last input element that the last window requires.
inline int64_t paddingAfter(const MtcConvolution &c, uint32_t axis) {
  const int64_t reach = (c.output[axis] - 1) * c.strides[axis] +
                        (c.kernel[axis] - 1) * c.dilations[axis] + 1 - c.before[axis];
  return std::max<int64_t>(0, reach - c.input[axis]);
}

/// Returns whether more windows fit into the padded input than the output has positions. Libraries
/// compute all windows that fit.
inline bool leavesOutWindows(const MtcConvolution &c) {
  for (uint32_t i = 0; i < c.window_rank; ++i) {
    const int64_t room =
        c.before[i] + c.input[i] + paddingAfter(c, i) - (c.kernel[i] - 1) * c.dilations[i] - 1;
    if (room / c.strides[i] + 1 != c.output[i])
      return true;
  }
  return false;
}

inline bool isEmpty(const MtcConvolution &c) {
  auto hasNone = [&](const int64_t *extents) {
    return std::any_of(extents, extents + c.window_rank, [](int64_t e) { return e == 0; });
  };
  return c.batch == 0 || c.groups == 0 || c.input_channels == 0 || c.output_channels == 0 ||
         hasNone(c.input) || hasNone(c.output) || hasNone(c.kernel);
}

/// Returns the floating-point operations of a run: one multiplication and one addition per term.
inline double convolutionFlops(const MtcConvolution &c) {
  auto flops = 2.0 * static_cast<double>(c.batch * c.groups) *
               static_cast<double>(c.input_channels * c.output_channels);
  for (uint32_t i = 0; i < c.window_rank; ++i)
    flops *= static_cast<double>(c.output[i] * c.kernel[i]);
  return flops;
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_PROBLEM_H
