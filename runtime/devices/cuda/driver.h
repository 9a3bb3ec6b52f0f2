// The CUDA driver.
#ifndef MTC_RUNTIME_DEVICES_CUDA_DRIVER_H
#define MTC_RUNTIME_DEVICES_CUDA_DRIVER_H

#include "runtime/devices/gpu/driver.h"

namespace mtc::runtime::cuda {

/// Attributes of a device: the compute capability (CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...).
constexpr int majorAttribute = 75, minorAttribute = 76;

/// Returns the driver of this machine. Throws a system error, which states what to install, if the
/// machine has no driver. In an emulated program, returns the emulated driver.
const gpu::Driver &openDriver();

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_DRIVER_H
