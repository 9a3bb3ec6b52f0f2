// The architectures of NVIDIA's GPUs, and the code of a program for them.
#ifndef MTC_RUNTIME_DEVICES_CUDA_ARCHITECTURE_H
#define MTC_RUNTIME_DEVICES_CUDA_ARCHITECTURE_H

#include "runtime/abi/cuda.h"
#include "runtime/devices/gpu/images.h"

namespace mtc::runtime::cuda {

/// Returns the program's best code for a device of this compute capability; null if none is
/// compatible.
const MtcCudaArchitecture *chooseArchitecture(const MtcCudaProgram &program, uint32_t major,
                                              uint32_t minor);

/// Returns the program's best code for a device. Throws a system error if there is none.
gpu::KernelCode chooseCode(const MtcCudaProgram &program, const gpu::Gpu &gpu);

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_ARCHITECTURE_H
