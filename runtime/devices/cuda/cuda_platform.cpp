// Opens the device of a program, and prepares calls of libraries.
#include "runtime/devices/cuda/cuda_platform.h"

#include "runtime/devices/cpu/processor.h"
#include "runtime/devices/cuda/architecture.h"
#include "runtime/devices/cuda/call_planner.h"
#include "runtime/devices/cuda/driver.h"
#include "runtime/devices/gpu/gpu_device.h"
#include "runtime/support/failure.h"

namespace mtc::runtime {

std::unique_ptr<Device> openDevice(const MtcProgram &program, const DeviceChoice &choice) {
  refuseStages(program);
  const auto &target = *static_cast<const MtcCudaProgram *>(program.target_data);
  if (target.host)
    checkProcessor(*target.host);
  return std::make_unique<gpu::GpuDevice>(program, choice,
                                          std::make_unique<cuda::CudaPlatform>(target));
}

namespace cuda {

static std::string versionText(int version) {
  return text(version / 1000, ".", version % 1000 / 10);
}

/// Checks the version before any other use of the driver.
const gpu::Driver &CudaPlatform::openDriver() const {
  const gpu::Driver &driver = cuda::openDriver();
  int version = 0;
  gpu::check(driver, driver.driverVersion(&version),
             "the NVIDIA driver does not report its version");
  if (version < static_cast<int>(program.driver_version))
    systemError("the installed NVIDIA driver is for CUDA ", versionText(version),
                "; this program's code needs one for CUDA ",
                versionText(static_cast<int>(program.driver_version)),
                " or later: update the driver");
  return driver;
}

gpu::KernelCode CudaPlatform::chooseCode(const gpu::Gpu &gpu) const {
  return cuda::chooseCode(program, gpu);
}

std::unique_ptr<gpu::PreparedCall> CudaPlatform::prepare(const MtcCall &call,
                                                         const gpu::CallOperands &operands) {
  const CallKind *kind = findCallKind(call.kind);
  if (!kind)
    return nullptr;
  return kind->prepare(
      CallContext(libraries, static_cast<MtcCudaPrecision>(program.precision), operands), call);
}

int64_t CudaPlatform::scratchBytes(const MtcCall &call) const {
  const CallPlanner *planner = findCallPlanner(call.kind);
  return planner ? planner->scratchBytes(call.description) : -1;
}

} // namespace cuda
} // namespace mtc::runtime
