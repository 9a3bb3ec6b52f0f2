// Translates convolutions to oneDNN descriptors.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CPU_ONEDNN_LIBRARY_CONVOLUTION_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CPU_ONEDNN_LIBRARY_CONVOLUTION_H

#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cpu/onednn.h"

#include <memory>

namespace mtc::runtime {

/// A primitive with the operands input, weights, output, then bias and addend.
struct LibraryConvolution {
  std::unique_ptr<LibraryPrimitive> primitive; ///< null if the library has no fast implementation
  dnnl_memory_desc_t denseWeights;             ///< in the layout of the call
  dnnl_memory_desc_t weights;                  ///< in the layout that the primitive chose

  int64_t weightBytes() const { return static_cast<int64_t>(dnnl_memory_desc_get_size(&weights)); }
  bool choseDenseWeights() const { return dnnl_memory_desc_equal(&weights, &denseWeights); }
};

/// Returns whether the library supports the extents of all tensors.
bool hasLibraryExtents(const MtcConvolution &convolution);

/// Returns whether the threads of a primitive for `threads` threads may spin until others have
/// computed their parts of the same sums.
bool mayWaitInside(const MtcConvolution &convolution, Computed computed,
                   const LibraryConvolution &planned, int threads);

/// Plans a primitive for at most `threads` threads.
LibraryConvolution planConvolution(const MtcConvolution &convolution, Computed computed,
                                   int threads);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CPU_ONEDNN_LIBRARY_CONVOLUTION_H
