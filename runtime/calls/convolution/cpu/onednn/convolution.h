// Convolutions and their adjoints by oneDNN, on channels-last tensors.
//
// Measured with 2.6.3 on AVX-512 for the 3x3 and 7x7 kernels of ResNet-50: channels-last inputs and
// outputs (`brgconv`, `jit`) are as fast as blocked ones, channels-first ones (`gemm:jit`) up to
// three times slower. The library requires blocked weights, so each call reorders them before or
// after the convolution.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CPU_ONEDNN_CONVOLUTION_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CPU_ONEDNN_CONVOLUTION_H

#include "runtime/abi/convolution.h"
#include "runtime/devices/cpu/library_call.h"

namespace mtc::runtime {

extern const CallKind onednnConvolutionCalls, onednnTransposedConvolutionCalls,
    onednnConvolutionWeightGradientCalls;

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CPU_ONEDNN_CONVOLUTION_H
