// Convolutions of 16-bit elements in f32, where the processor has no products of them.
//
// Entries of the batch are converted block by block, as many as a bounded scratch holds.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CPU_WIDENED_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CPU_WIDENED_H

#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cpu/library_call.h"

#include <functional>
#include <memory>

namespace mtc::runtime {

using ConvolutionPlanner = std::function<std::unique_ptr<LibraryCall>(const MtcConvolution &)>;

/// Null where `planF32` has no call for the same convolution in f32, over fewer entries.
std::unique_ptr<LibraryCall> createWidenedConvolution(const MtcConvolution &convolution,
                                                      Computed computed, int threads,
                                                      const ConvolutionPlanner &planF32);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CPU_WIDENED_H
