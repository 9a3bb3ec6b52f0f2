// NVIDIA's driver and libraries as the platform of a program.
#ifndef MTC_RUNTIME_DEVICES_CUDA_CUDA_PLATFORM_H
#define MTC_RUNTIME_DEVICES_CUDA_CUDA_PLATFORM_H

#include "runtime/devices/cuda/call.h"

namespace mtc::runtime::cuda {

class CudaPlatform final : public gpu::Platform {
public:
  explicit CudaPlatform(const MtcCudaProgram &program) : program(program) {}

  const gpu::Driver &openDriver() const override;
  gpu::KernelCode chooseCode(const gpu::Gpu &gpu) const override;
  std::unique_ptr<gpu::PreparedCall> prepare(const MtcCall &call,
                                             const gpu::CallOperands &operands) override;
  int64_t scratchBytes(const MtcCall &call) const override;

private:
  const MtcCudaProgram &program;
  Libraries libraries;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_CUDA_PLATFORM_H
