// Convolutions that cuDNN accepts or rejects; the emulated library must do the same.
#ifndef MTC_TEST_SUPPORT_CONVOLUTION_GRAPHS_H
#define MTC_TEST_SUPPORT_CONVOLUTION_GRAPHS_H

#include "runtime/devices/cuda/dnn_graph.h"
#include "runtime/support/failure.h"

#include <vector>

namespace mtc::runtime::cuda {

/// 3 x 3 windows over [2, 6, 8, 9] with 4 output channels in 2 groups, before changes.
struct DnnConvolutionGraph {
  const char *name = "as it should be";
  bool isRight = true;
  dnn::Extents x = {2, 6, 8, 9}, w = {4, 3, 3, 3}, y = {2, 4, 4, 4}, xStrides = {432, 1, 54, 6};
  dnn::Windows windows = {{2, 2}, {1, 1}, {1, 0}, {1, 0}};
  dnn::Element yElement = dnn::f32;
  dnn::Kind direction = dnn::convolutionForward;
};

inline std::vector<DnnConvolutionGraph> convolutionGraphs() {
  return {{},
          {.name = "data's gradient", .direction = dnn::convolutionBackwardData},
          {.name = "weights' gradient", .direction = dnn::convolutionBackwardFilter},
          {.name = "another batch", .isRight = false, .y = {3, 4, 4, 4}},
          {.name = "channels that are no whole groups", .isRight = false, .w = {4, 4, 3, 3}},
          {.name = "other channels of the output", .isRight = false, .y = {2, 6, 4, 4}},
          {.name = "a position too few", .isRight = false, .y = {2, 4, 3, 4}},
          {.name = "a position too many", .isRight = false, .y = {2, 4, 4, 5}},
          {.name = "windows along one axis", .isRight = false, .windows = {{2}, {1}, {1}, {1}}},
          {.name = "an extent of 0", .isRight = false, .x = {0, 6, 8, 9}},
          {.name = "a negative padding",
           .isRight = false,
           .windows = {{2, 2}, {1, 1}, {1, 0}, {1, -1}}},
          {.name = "a stride of 0", .isRight = false, .windows = {{2, 0}, {1, 1}, {1, 0}, {1, 0}}}};
}

/// Returns whether the library accepts the descriptors up to that of the graph.
inline bool isTaken(const dnn::Library &library, const DnnConvolutionGraph &c) {
  try {
    dnn::OperationGraph graph(library);
    dnn::Extents xStrides = c.xStrides;
    const auto &x = graph.external(1, dnn::f32, c.x, xStrides),
               &w = graph.external(2, dnn::f32, c.w, dnn::denseStrides(c.w)),
               &y = graph.external(3, c.yElement, c.y, dnn::denseStrides(c.y));
    graph.convolve(c.direction, c.windows, w, x, y);
    graph.finish();
  } catch (const Failure &) {
    return false;
  }
  return true;
}

} // namespace mtc::runtime::cuda

#endif // MTC_TEST_SUPPORT_CONVOLUTION_GRAPHS_H
