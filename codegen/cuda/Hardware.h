//===- Hardware.h - Properties of NVIDIA GPUs that kernels depend on --------------------------===//

#ifndef MTC_CODEGEN_CUDA_HARDWARE_H
#define MTC_CODEGEN_CUDA_HARDWARE_H

#include "codegen/gpu/Hardware.h"

namespace mtc::cuda {

extern const gpu::Hardware hardware;

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_HARDWARE_H
