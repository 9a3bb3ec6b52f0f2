// Convolutions of 16-bit elements in f32, for processors without 16-bit multiply instructions.
//
// The batch is converted to f32 in blocks of as many entries as fit into a bounded scratch.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CPU_ONEDNN_WIDENED_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CPU_ONEDNN_WIDENED_H

#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cpu/library_call.h"

#include <functional>
#include <memory>

namespace mtc::runtime {

using ConvolutionPlanner = std::function<std::unique_ptr<LibraryCall>(const MtcConvolution &)>;

/// Returns null if `planF32` does not support the same convolution in f32 over fewer batch entries.
std::unique_ptr<LibraryCall> createWidenedConvolution(const MtcConvolution &convolution,
                                                      Computed computed, int threads,
                                                      const ConvolutionPlanner &planF32);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CPU_ONEDNN_WIDENED_H
