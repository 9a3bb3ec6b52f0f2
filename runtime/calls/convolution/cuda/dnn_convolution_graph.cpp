// Translates channels-last tensors and windows to cuDNN descriptors.
#include "runtime/calls/convolution/cuda/dnn_convolution_graph.h"

namespace mtc::runtime::cuda {

using dnn::Descriptor;
using dnn::Extents;

namespace {

/// Returns one number per spatial axis. cuDNN requires at least two axes, so a 1-D convolution
/// becomes a 2-D one with `one` as the number of the additional axis.
Extents alongWindows(const MtcConvolution &c, const int64_t *numbers, int64_t one) {
  Extents result(numbers, numbers + c.window_rank);
  if (c.window_rank == 1)
    result.insert(result.begin(), one);
  return result;
}

Extents withChannels(int64_t outer, int64_t channels, const Extents &windows) {
  Extents result = {outer, channels};
  result.insert(result.end(), windows.begin(), windows.end());
  return result;
}

/// Returns the strides of a tensor whose second axis is the innermost in memory.
Extents channelsLastStrides(const Extents &extents) {
  Extents memory = extents;
  memory.erase(memory.begin() + 1);
  memory.push_back(extents[1]);
  Extents strides = dnn::denseStrides(memory);
  strides.insert(strides.begin() + 1, strides.back());
  strides.pop_back();
  return strides;
}

dnn::Windows windowsOf(const MtcConvolution &c) {
  int64_t after[MTC_MAX_WINDOW_AXES] = {};
  for (uint32_t i = 0; i < c.window_rank; ++i)
    after[i] = paddingAfter(c, i);
  return {alongWindows(c, c.strides, 1), alongWindows(c, c.dilations, 1),
          alongWindows(c, c.before, 0), alongWindows(c, after, 0)};
}

} // namespace

void addConvolution(dnn::OperationGraph &graph, const MtcConvolution &c, Computed computed) {
  auto channelsLast = [&](int64_t id, int64_t channels, const int64_t *positions) -> auto & {
    const Extents extents =
        withChannels(c.batch, c.groups * channels, alongWindows(c, positions, 1));
    return graph.external(id, dnn::elementOf(c.type), extents, channelsLastStrides(extents));
  };
  const Extents results =
      withChannels(c.batch, c.groups * c.output_channels, alongWindows(c, c.output, 1));
  int64_t left = (c.has_addend != 0) + (c.has_bias != 0) + (c.activation != MTC_NO_ACTIVATION);
  /// Returns the next intermediate result; the last one is the output tensor in memory.
  auto next = [&]() -> auto & {
    return left-- == 0 ? channelsLast(outputTensor, c.output_channels, c.output)
                       : graph.inner(dnn::f32, results, channelsLastStrides(results));
  };
  const Extents taps =
      withChannels(c.groups * c.output_channels, c.input_channels, alongWindows(c, c.kernel, 1));
  const Descriptor &x = channelsLast(inputTensor, c.input_channels, c.input), &y = next(),
                   &w = graph.external(weightsTensor, dnn::elementOf(c.type), taps,
                                       dnn::denseStrides(taps));
  const dnn::Kind direction = computed == Computed::Output  ? dnn::convolutionForward
                              : computed == Computed::Input ? dnn::convolutionBackwardData
                                                            : dnn::convolutionBackwardFilter;
  graph.convolve(direction, windowsOf(c), w, x, y);
  const Descriptor *sum = &y;
  auto add = [&](const Descriptor &term) {
    const Descriptor &result = next();
    graph.binary(dnn::add, *sum, term, result);
    sum = &result;
  };
  if (c.has_addend)
    add(channelsLast(addendTensor, c.output_channels, c.output));
  if (c.has_bias) {
    const Extents extents = withChannels(1, results[1], Extents(results.size() - 2, 1));
    add(graph.external(biasTensor, dnn::elementOf(c.type), extents, channelsLastStrides(extents)));
  }
  if (c.activation == MTC_RELU)
    graph.unary(dnn::relu, *sum, next());
}

} // namespace mtc::runtime::cuda
