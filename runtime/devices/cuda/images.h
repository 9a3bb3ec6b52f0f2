// A program's kernels as functions of the device.
#ifndef MTC_RUNTIME_DEVICES_CUDA_IMAGES_H
#define MTC_RUNTIME_DEVICES_CUDA_IMAGES_H

#include "runtime/abi/cuda.h"
#include "runtime/devices/cuda/gpu.h"

#include <deque>
#include <vector>

namespace mtc::runtime::cuda {

/// The code of a program that is best for a device of this compute capability; null if none runs
/// there.
const MtcCudaArchitecture *chooseArchitecture(const MtcCudaProgram &program, uint32_t major,
                                              uint32_t minor);

class KernelImages {
public:
  /// A fault of the system if the program has no code for the GPU.
  KernelImages(const Gpu &gpu, const MtcCudaProgram &program);
  ~KernelImages();
  KernelImages(const KernelImages &) = delete;
  KernelImages &operator=(const KernelImages &) = delete;

  /// Loads the image of the kernel with the first of its functions. `nodes` are what it is launched
  /// for.
  Function find(const MtcCudaKernel &kernel, const MtcCudaLaunch &launch, const char *nodes);

private:
  const Gpu &gpu;
  const MtcCudaProgram &program;
  const MtcCudaArchitecture *architecture = nullptr; ///< null in an emulated program
  std::vector<Module> modules;                       ///< null until they are used
  std::deque<EmulatedFunction> emulated;
};

} // namespace mtc::runtime::cuda

#endif // MTC_RUNTIME_DEVICES_CUDA_IMAGES_H
