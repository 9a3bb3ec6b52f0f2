// Loads a program's kernels onto the device.
#ifndef MTC_RUNTIME_DEVICES_GPU_IMAGES_H
#define MTC_RUNTIME_DEVICES_GPU_IMAGES_H

#include "runtime/abi/gpu.h"
#include "runtime/devices/gpu/gpu.h"

#include <deque>
#include <vector>

namespace mtc::runtime::gpu {

/// The images of a program's kernels for one device.
struct KernelCode {
  const MtcGpuImage *images; ///< by MtcGpuKernel::image; null in an emulated program
  uint32_t imageCount;
  const char *loadFailure; ///< message if the driver cannot load an image
};

/// Enqueues a launch of a function with `bytes` of parameters, which are copied.
Result enqueueLaunch(const Driver &driver, Function function, const MtcGpuLaunch &launch,
                     void *parameters, size_t bytes, Stream stream);

class KernelImages {
public:
  KernelImages(const Gpu &gpu, const KernelCode &code);
  ~KernelImages();
  KernelImages(const KernelImages &) = delete;
  KernelImages &operator=(const KernelImages &) = delete;

  /// Returns the function of a launch. Loads the kernel's image on first use. `nodes` are the model
  /// nodes of the launch.
  Function find(const MtcGpuKernel &kernel, const MtcGpuLaunch &launch, const char *nodes);

private:
  const Gpu &gpu;
  const KernelCode code;
  std::vector<Module> modules; ///< null until first use
  std::deque<EmulatedFunction> emulated;
};

} // namespace mtc::runtime::gpu

#endif // MTC_RUNTIME_DEVICES_GPU_IMAGES_H
