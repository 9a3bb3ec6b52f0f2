// The image that fits the device.
#include "runtime/cuda/images.h"

#include "runtime/failure.h"

#include <string>

namespace mtc::runtime::cuda {

static std::string nameOf(uint32_t major, uint32_t minor, bool isExact = false) {
  return text("sm_", major, minor, isExact ? "a" : "");
}

/// Code runs on later devices of the same major number; the latest of it is the best, above all
/// what was made for this very device.
const MtcCudaArchitecture *chooseArchitecture(const MtcCudaProgram &program, uint32_t major,
                                              uint32_t minor) {
  const MtcCudaArchitecture *best = nullptr;
  for (uint32_t i = 0; i < program.architecture_count; ++i) {
    const MtcCudaArchitecture &each = program.architectures[i];
    const bool fits =
        each.major == major && (each.is_exact ? each.minor == minor : each.minor <= minor);
    if (fits && (!best || each.minor > best->minor ||
                 (each.minor == best->minor && each.is_exact > best->is_exact)))
      best = &each;
  }
  return best;
}

[[noreturn]] static void refuse(const Gpu &gpu, const MtcCudaProgram &program) {
  std::string all;
  for (uint32_t i = 0; i < program.architecture_count; ++i) {
    const MtcCudaArchitecture &each = program.architectures[i];
    all += (all.empty() ? "" : ", ") + nameOf(each.major, each.minor, each.is_exact);
  }
  const std::string wanted = nameOf(gpu.major(), gpu.minor());
  systemError("this program has code for ", all, ", and ", gpu.name(), " is ", wanted,
              "; compile it with --target cuda:", wanted);
}

KernelImages::KernelImages(const Gpu &gpu, const MtcCudaProgram &program)
    : gpu(gpu), program(program), modules(program.image_count) {
  if (program.is_emulated)
    return;
  architecture = chooseArchitecture(program, gpu.major(), gpu.minor());
  if (!architecture)
    refuse(gpu, program);
}

KernelImages::~KernelImages() {
  for (Module module : modules)
    if (module)
      gpu.driver.unloadModule(module);
}

Function KernelImages::find(const MtcCudaKernel &kernel, const MtcCudaLaunch &launch,
                            const char *nodes) {
  if (program.is_emulated)
    return reinterpret_cast<Function>(&emulated.emplace_back(EmulatedFunction{&launch, nodes}));
  Module &module = modules[kernel.image];
  if (!module)
    gpu.check(gpu.driver.loadModule(&module, architecture->images[kernel.image].bytes),
              "the program's code cannot be loaded");
  Function function = nullptr;
  gpu.check(gpu.driver.findFunction(&function, module, launch.symbol),
            text("the program's code lacks the kernel ", launch.symbol).c_str());
  return function;
}

} // namespace mtc::runtime::cuda
