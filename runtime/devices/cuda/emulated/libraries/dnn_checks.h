// What cuDNN refuses of descriptors.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_CHECKS_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_CHECKS_H

#include "runtime/devices/cuda/emulated/libraries/dnn_evaluation.h"

#include <string>

namespace mtc::runtime::cuda::dnn {

/// What keeps a descriptor from being finalized; empty if nothing does.
std::string findMistake(const DescriptorObject &descriptor);

} // namespace mtc::runtime::cuda::dnn

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_CHECKS_H
