// Validation of descriptors by the emulated cuDNN.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_CHECKS_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_CHECKS_H

#include "runtime/devices/cuda/emulated/libraries/dnn_evaluation.h"

#include <string>

namespace mtc::runtime::cuda::dnn {

/// Returns why a descriptor cannot be finalized; empty if it can.
std::string findMistake(const DescriptorObject &descriptor);

} // namespace mtc::runtime::cuda::dnn

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_LIBRARIES_DNN_CHECKS_H
