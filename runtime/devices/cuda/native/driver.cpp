// Loads the driver's functions from libcuda, which belongs to the installed driver. Each function
// is looked up under a versioned name, so that its signature matches the declaration.
#include "runtime/devices/cuda/driver.h"

#include "runtime/devices/cuda/native/shared_library.h"
#include "runtime/support/failure.h"

namespace mtc::runtime::cuda {

using namespace gpu;

static Driver loadDriver() {
  static const SharedLibrary library({"libcuda.so.1"});
  if (!library.isOpen())
    systemError(
        "this program runs on an NVIDIA GPU, but no NVIDIA driver is installed here (looked "
        "for ",
        library.searched(), "); install the driver, or compile with --target cpu");
  Driver driver = {};
  driver.vendor = "NVIDIA";
  driver.visibleDevices = "CUDA_VISIBLE_DEVICES";
  auto load = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find(name));
    if (!function)
      systemError("the installed NVIDIA driver is too old: it lacks ", name,
                  "; update it to one for CUDA 12 or later");
  };
  load(driver.init, "cuInit");
  load(driver.driverVersion, "cuDriverGetVersion");
  load(driver.deviceCount, "cuDeviceGetCount");
  load(driver.device, "cuDeviceGet");
  load(driver.deviceName, "cuDeviceGetName");
  load(driver.deviceAttribute, "cuDeviceGetAttribute");
  load(driver.deviceIdentity, "cuDeviceGetUuid_v2");
  load(driver.retainContext, "cuDevicePrimaryCtxRetain");
  load(driver.releaseContext, "cuDevicePrimaryCtxRelease_v2");
  load(driver.setContext, "cuCtxSetCurrent");
  load(driver.errorName, "cuGetErrorName");
  load(driver.errorText, "cuGetErrorString");
  load(driver.memoryInfo, "cuMemGetInfo_v2");
  load(driver.allocate, "cuMemAlloc_v2");
  load(driver.release, "cuMemFree_v2");
  load(driver.allocatePinned, "cuMemHostAlloc");
  load(driver.releasePinned, "cuMemFreeHost");
  load(driver.copyToDevice, "cuMemcpyHtoDAsync_v2");
  load(driver.copyToHost, "cuMemcpyDtoHAsync_v2");
  load(driver.copyOnDevice, "cuMemcpyDtoDAsync_v2");
  load(driver.fillBytes, "cuMemsetD8Async");
  load(driver.createStream, "cuStreamCreate");
  load(driver.destroyStream, "cuStreamDestroy_v2");
  load(driver.waitForStream, "cuStreamSynchronize");
  load(driver.queryStream, "cuStreamQuery");
  load(driver.letStreamWait, "cuStreamWaitEvent");
  load(driver.createEvent, "cuEventCreate");
  load(driver.destroyEvent, "cuEventDestroy_v2");
  load(driver.recordEvent, "cuEventRecord");
  load(driver.waitForEvent, "cuEventSynchronize");
  load(driver.queryEvent, "cuEventQuery");
  load(driver.elapsed, "cuEventElapsedTime");
  load(driver.loadModule, "cuModuleLoadData");
  load(driver.unloadModule, "cuModuleUnload");
  load(driver.findFunction, "cuModuleGetFunction");
  load(driver.launch, "cuLaunchKernel");
  load(driver.launchHostFunction, "cuLaunchHostFunc");
  load(driver.beginCapture, "cuStreamBeginCapture_v2");
  load(driver.endCapture, "cuStreamEndCapture");
  load(driver.destroyGraph, "cuGraphDestroy");
  load(driver.instantiate, "cuGraphInstantiateWithFlags");
  load(driver.destroyExecutable, "cuGraphExecDestroy");
  load(driver.launchGraph, "cuGraphLaunch");
  return driver;
}

const Driver &openDriver() {
  static const Driver driver = loadDriver();
  return driver;
}

} // namespace mtc::runtime::cuda
