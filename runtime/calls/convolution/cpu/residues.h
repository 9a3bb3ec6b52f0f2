// Input gradients of convolutions with strides. Windows at a stride of s read an element by every
// s-th tap only. Elements are divided by the remainders of their indices and the strides. Elements
// with the same remainder are read by the same taps. Their gradient is therefore that of a
// convolution without strides that has only these taps.
#ifndef MTC_RUNTIME_CALLS_CONVOLUTION_CPU_RESIDUES_H
#define MTC_RUNTIME_CALLS_CONVOLUTION_CPU_RESIDUES_H

#include "runtime/calls/convolution/problem.h"
#include "runtime/devices/cpu/library_call.h"
#include "runtime/devices/cpu/vector/vector_set.h"

#include <memory>

namespace mtc::runtime {

/// Returns whether a convolution has a stride of more than 1.
bool hasStrides(const MtcConvolution &convolution);

/// Computes the gradient of the input, with contractions of patches. The result is bit-identical
/// for any number of threads.
std::unique_ptr<LibraryCall> createResidueConvolution(const MtcConvolution &convolution,
                                                      int threads, VectorSet set);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_CALLS_CONVOLUTION_CPU_RESIDUES_H
