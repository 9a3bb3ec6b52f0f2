// Weight gradients in parts of the batch.
//
// oneDNN's primitives for weight gradients add the sums of their threads inside, where each thread
// spins until the last one arrives. A thread that has no core, because other processes use it,
// delays all of them by its time slice. A part is therefore computed by one thread with a primitive
// for one thread, and the runtime adds the parts in order.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CPU_ONEDNN_WEIGHT_GRADIENT_PARTS_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CPU_ONEDNN_WEIGHT_GRADIENT_PARTS_H

#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cpu/library_call.h"

#include <memory>

namespace mtc::runtime {

/// Returns null if there is too little to divide, if an implementation in f32 without parts is
/// faster, or if the library has no fast primitive. The bits of the result do not depend on the
/// number of threads.
std::unique_ptr<LibraryCall> createWeightGradientParts(const MtcConvolution &convolution,
                                                       int threads, bool executable);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CPU_ONEDNN_WEIGHT_GRADIENT_PARTS_H
