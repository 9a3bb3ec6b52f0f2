// Loads images and finds functions in them.
#include "runtime/devices/gpu/images.h"

#include "runtime/support/failure.h"

namespace mtc::runtime::gpu {

KernelImages::KernelImages(const Gpu &gpu, const KernelCode &code)
    : gpu(gpu), code(code), modules(code.imageCount) {}

KernelImages::~KernelImages() {
  for (Module module : modules)
    if (module)
      gpu.driver.unloadModule(module);
}

Function KernelImages::find(const MtcGpuKernel &kernel, const MtcGpuLaunch &launch,
                            const char *nodes) {
  if (!code.images)
    return reinterpret_cast<Function>(&emulated.emplace_back(EmulatedFunction{&launch, nodes}));
  Module &module = modules[kernel.image];
  if (!module)
    gpu.check(gpu.driver.loadModule(&module, code.images[kernel.image].bytes), code.loadFailure);
  Function function = nullptr;
  gpu.check(gpu.driver.findFunction(&function, module, launch.symbol),
            text("the program's code lacks the kernel ", launch.symbol).c_str());
  return function;
}

Result enqueueLaunch(const Driver &driver, Function function, const MtcGpuLaunch &launch,
                     void *parameters, size_t bytes, Stream stream) {
  void *extra[] = {reinterpret_cast<void *>(parameterBuffer), parameters,
                   reinterpret_cast<void *>(parameterBufferBytes), &bytes,
                   reinterpret_cast<void *>(endOfParameters)};
  const uint32_t *grid = launch.grid, *block = launch.block;
  // Shared memory is static, so the launch requests no dynamic shared memory.
  return driver.launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, stream,
                       nullptr, extra);
}

} // namespace mtc::runtime::gpu
