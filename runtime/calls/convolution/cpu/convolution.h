// Convolutions and their adjoints by oneDNN, on channels-last tensors.
//
// Measured with 2.6.3 on AVX-512, 3x3 and 7x7 kernels of ResNet-50: it is as fast on channels-last
// inputs and outputs (`brgconv`, `jit`) as on blocked ones, and up to three times as slow where
// channels come first (`gemm:jit`). Weights it wants blocked: they are laid out anew in each call,
// on their way in or out.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CPU_CONVOLUTION_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CPU_CONVOLUTION_H

#include "runtime/abi/convolution.h"
#include "runtime/devices/cpu/library_call.h"

namespace mtc::runtime {

extern const CallKind convolutionCalls, transposedConvolutionCalls, convolutionWeightGradientCalls;

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CPU_CONVOLUTION_H
