// Loads a program's kernels onto the device.
#ifndef MTC_RUNTIME_DEVICES_CUDA_IMAGES_H
#define MTC_RUNTIME_DEVICES_CUDA_IMAGES_H

#include "runtime/abi/cuda.h"
#include "runtime/devices/cuda/gpu.h"

#include <deque>
#include <vector>

namespace mtc::runtime::cuda {

/// Returns the program's best code for a device of this compute capability; null if none is
/// compatible.
const MtcCudaArchitecture *chooseArchitecture(const MtcCudaProgram &program, uint32_t major,
                                              uint32_t minor);

/// Enqueues a launch of a function with `bytes` of parameters, which are copied.
Result enqueueLaunch(const Driver &driver, Function function, const MtcCudaLaunch &launch,
                     void *parameters, size_t bytes, Stream stream);

class KernelImages {
public:
  /// Throws a system error if the program has no code for the GPU.
  KernelImages(const Gpu &gpu, const MtcCudaProgram &program);
  ~KernelImages();
  KernelImages(const KernelImages &) = delete;
  KernelImages &operator=(const KernelImages &) = delete;

  /// Returns the function of a launch. Loads the kernel's image on first use. `nodes` are the model
  /// nodes of the launch.
  Function find(const MtcCudaKernel &kernel, const MtcCudaLaunch &launch, const char *nodes);

private:
  const Gpu &gpu;
  const MtcCudaProgram &program;
  const MtcCudaArchitecture *architecture = nullptr; ///< null in an emulated program
  std::vector<Module> modules;                       ///< null until first use
  std::deque<EmulatedFunction> emulated;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_IMAGES_H
