// Convolutions and their adjoints by the runtime's own code: contractions of the patches that the
// windows read, which are never in memory as a whole, with the weights.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CPU_CONVOLUTION_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CPU_CONVOLUTION_H

#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/vector/vector_set.h"

#include <memory>

namespace mtc::runtime {

extern const CallKind convolutionCalls, transposedConvolutionCalls, convolutionWeightGradientCalls;

/// Returns null for f64, for an activation, and for a depthwise convolution, which has little to
/// contract. The result is bit-identical for any number of threads.
std::unique_ptr<LibraryCall> createPatchConvolution(const MtcConvolution &convolution,
                                                    Computed computed, int threads, VectorSet set);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CPU_CONVOLUTION_H
