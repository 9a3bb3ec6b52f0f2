// Convolutions for tests, and plain sums that compute convolutions and their adjoints.
#ifndef MTC_TEST_SUPPORT_CONVOLUTION_CASES_H
#define MTC_TEST_SUPPORT_CONVOLUTION_CASES_H

#include "runtime/abi/convolution.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace mtc::convolution_cases {

struct Case {
  const char *name;
  MtcConvolution c;
};

inline MtcConvolution plane(int64_t batch, int64_t groups, int64_t in, int64_t out, int64_t extent,
                            int64_t kernel, int64_t stride, int64_t dilation, int64_t before,
                            int64_t after) {
  MtcConvolution c = {};
  mtc_set_convolution_types(&c, MTC_F32);
  c.window_rank = 2;
  c.batch = batch;
  c.groups = groups;
  c.input_channels = in;
  c.output_channels = out;
  for (int i = 0; i < 2; ++i) {
    c.input[i] = extent + i; // No square, so that axes are told apart.
    c.kernel[i] = kernel;
    c.strides[i] = stride;
    c.dilations[i] = dilation;
    c.before[i] = before;
    c.output[i] = (c.input[i] + before + after - dilation * (kernel - 1) - 1) / stride + 1;
  }
  return c;
}

inline MtcConvolution line() {
  MtcConvolution c = {};
  mtc_set_convolution_types(&c, MTC_F32);
  c.window_rank = 1;
  c.batch = 2;
  c.groups = 1;
  c.input_channels = 5;
  c.output_channels = 7;
  c.input[0] = 13;
  c.kernel[0] = 4;
  c.strides[0] = 3;
  c.dilations[0] = 2;
  c.before[0] = 1;
  c.output[0] = 4; // The last window reaches 2 elements beyond the input.
  return c;
}

inline MtcConvolution volume() {
  MtcConvolution c = {};
  mtc_set_convolution_types(&c, MTC_F32);
  c.window_rank = 3;
  c.batch = 2;
  c.groups = 2;
  c.input_channels = 3;
  c.output_channels = 4;
  const int64_t input[] = {5, 6, 4}, kernel[] = {3, 2, 1}, strides[] = {1, 2, 1};
  for (int i = 0; i < 3; ++i) {
    c.input[i] = input[i];
    c.kernel[i] = kernel[i];
    c.strides[i] = strides[i];
    c.dilations[i] = 1;
    c.before[i] = i == 0;
    c.output[i] = (input[i] + 2 * c.before[i] - kernel[i]) / strides[i] + 1;
  }
  return c;
}

inline std::vector<Case> cases() {
  return {{"3x3", plane(2, 1, 16, 32, 9, 3, 1, 1, 1, 1)},
          {"3x3, odd channels", plane(3, 1, 5, 7, 8, 3, 1, 1, 1, 1)},
          {"7x7 of an image", plane(1, 1, 3, 8, 20, 7, 2, 1, 3, 3)},
          {"stride, dilation, one-sided padding", plane(2, 1, 4, 6, 14, 3, 2, 2, 0, 3)},
          {"elements after the last window", plane(1, 1, 16, 16, 10, 3, 4, 1, 0, 0)},
          {"1x1 with stride", plane(2, 1, 16, 16, 7, 1, 2, 1, 0, 0)},
          {"one channel", plane(2, 1, 1, 1, 6, 3, 1, 1, 1, 1)},
          {"groups", plane(2, 3, 4, 5, 8, 3, 1, 1, 1, 1)},
          {"depthwise", plane(2, 32, 1, 1, 9, 3, 1, 1, 1, 1)},
          {"depthwise, odd", plane(1, 7, 1, 1, 9, 5, 2, 1, 2, 2)},
          {"line", line()},
          {"volume", volume()}};
}

/// Returns random numbers that 16-bit types represent.
struct Tensors {
  std::vector<float> input, weights, output;

  explicit Tensors(const MtcConvolution &c) {
    int64_t in = c.batch * c.groups * c.input_channels,
            out = c.batch * c.groups * c.output_channels,
            w = c.groups * c.output_channels * c.input_channels;
    for (uint32_t i = 0; i < c.window_rank; ++i) {
      in *= c.input[i];
      out *= c.output[i];
      w *= c.kernel[i];
    }
    std::mt19937 generator(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (auto [tensor, elements] : {std::pair(&input, in), {&weights, w}, {&output, out}}) {
      tensor->resize(static_cast<size_t>(elements));
      for (float &element : *tensor) {
        element = uniform(generator);
        std::memset(&element, 0, 2); // bf16 is the upper half of f32
      }
    }
  }
};

/// Calls `visit` with the positions in input, weights and output of each term of the sum.
inline void forEachProduct(const MtcConvolution &c,
                           const std::function<void(size_t, size_t, size_t)> &visit) {
  const int64_t extents[] = {c.batch,     c.groups,    c.output_channels, c.input_channels,
                             c.output[0], c.kernel[0], c.output[1],       c.kernel[1],
                             c.output[2], c.kernel[2]};
  int64_t index[10] = {};
  while (true) {
    auto [n, g, m, ch] = std::tuple(index[0], index[1], index[2], index[3]);
    int64_t in = n, out = n, w = (g * c.output_channels + m) * c.input_channels + ch;
    bool isInside = true;
    for (uint32_t i = 0; i < c.window_rank; ++i) {
      int64_t o = index[4 + 2 * i], k = index[5 + 2 * i];
      int64_t place = o * c.strides[i] + k * c.dilations[i] - c.before[i];
      isInside &= place >= 0 && place < c.input[i];
      in = in * c.input[i] + place;
      out = out * c.output[i] + o;
      w = w * c.kernel[i] + k;
    }
    if (isInside)
      visit(static_cast<size_t>((in * c.groups + g) * c.input_channels + ch),
            static_cast<size_t>(w),
            static_cast<size_t>((out * c.groups + g) * c.output_channels + m));
    size_t axis = 4 + 2 * c.window_rank;
    while (axis-- > 0 && ++index[axis] == extents[axis])
      index[axis] = 0;
    if (axis == SIZE_MAX)
      return;
  }
}

struct Sums {
  std::vector<double> input, weights, output;

  Sums(const MtcConvolution &c, const Tensors &t)
      : input(t.input.size()), weights(t.weights.size()), output(t.output.size()) {
    forEachProduct(c, [&](size_t i, size_t w, size_t o) {
      output[o] += static_cast<double>(t.input[i]) * t.weights[w];
      input[i] += static_cast<double>(t.output[o]) * t.weights[w];
      weights[w] += static_cast<double>(t.output[o]) * t.input[i];
    });
  }
};

/// Applies the call's epilogue to its sums: addends, then the activation.
inline std::vector<double> finished(const MtcConvolution &c, std::vector<double> output,
                                    const std::vector<float> &bias,
                                    const std::vector<float> &addend) {
  for (size_t i = 0; i < output.size(); ++i) {
    if (c.has_bias)
      output[i] += bias[i % bias.size()];
    if (c.has_addend)
      output[i] += addend[i];
    if (c.activation == MTC_RELU && output[i] <= 0)
      output[i] = 0;
  }
  return output;
}

} // namespace mtc::convolution_cases

#endif // MTC_TEST_SUPPORT_CONVOLUTION_CASES_H
