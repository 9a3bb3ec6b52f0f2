// Convolution operations of the emulated cuDNN, with plain loops.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_CONVOLUTION_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_CONVOLUTION_H

#include "runtime/devices/cuda/emulated/libraries/dnn_evaluation.h"

#include <string>
#include <vector>

namespace mtc::runtime::cuda::dnn {

/// Returns why the convolution operation is invalid; empty if it is valid.
std::string findConvolutionFault(const DescriptorObject &operation);

/// Returns the tensor that the operation computes from the other two. Elements are in the order of
/// the axes.
std::vector<float> convolve(const DescriptorObject &operation, const std::vector<float> &w,
                            const std::vector<float> &x, const std::vector<float> &y);

} // namespace mtc::runtime::cuda::dnn

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_CONVOLUTION_H
