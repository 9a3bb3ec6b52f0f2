// A convolution's operation of cuDNN by loops.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_CONVOLUTION_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_CONVOLUTION_H

#include "runtime/devices/cuda/emulated/libraries/dnn_evaluation.h"

#include <string>
#include <vector>

namespace mtc::runtime::cuda::dnn {

/// What is wrong with the operation of a convolution; empty if nothing.
std::string findConvolutionFault(const DescriptorObject &operation);

/// The numbers of what the operation computes, from those of the other two, each by the order of
/// its axes.
std::vector<float> convolve(const DescriptorObject &operation, const std::vector<float> &w,
                            const std::vector<float> &x, const std::vector<float> &y);

} // namespace mtc::runtime::cuda::dnn

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_CONVOLUTION_H
