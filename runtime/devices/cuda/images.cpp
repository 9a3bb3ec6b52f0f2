// Selects and loads the image for the device.
#include "runtime/devices/cuda/images.h"

#include "runtime/support/failure.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace mtc::runtime::cuda {

using Capability = std::pair<uint32_t, uint32_t>; // major and minor version

static Capability capabilityOf(const MtcCudaArchitecture &architecture) {
  return {architecture.major, architecture.minor};
}

static std::string nameOf(Capability capability, uint32_t code) {
  return text(code == MTC_PTX ? "compute_" : "sm_", capability.first, capability.second,
              code == MTC_EXACT_CUBIN ? "a" : "");
}

static bool runsOn(const MtcCudaArchitecture &architecture, Capability device) {
  const Capability own = capabilityOf(architecture);
  switch (architecture.code) {
  case MTC_EXACT_CUBIN:
    return own == device;
  case MTC_CUBIN:
    return own.first == device.first && own.second <= device.second;
  default:
    return own <= device;
  }
}

/// Prefers machine code to PTX, then the latest compute capability, then code for exactly this
/// device.
const MtcCudaArchitecture *chooseArchitecture(const MtcCudaProgram &program, uint32_t major,
                                              uint32_t minor) {
  auto rank = [](const MtcCudaArchitecture &each) {
    return std::tuple(each.code != MTC_PTX, capabilityOf(each), each.code == MTC_EXACT_CUBIN);
  };
  const MtcCudaArchitecture *best = nullptr;
  for (uint32_t i = 0; i < program.architecture_count; ++i) {
    const MtcCudaArchitecture &each = program.architectures[i];
    if (runsOn(each, {major, minor}) && (!best || rank(each) > rank(*best)))
      best = &each;
  }
  return best;
}

[[noreturn]] static void refuse(const Gpu &gpu, const MtcCudaProgram &program) {
  const Capability device = {gpu.major(), gpu.minor()};
  constexpr Capability first = {8, 0}; // the minimum that the compiler supports
  std::string all;
  Capability earlier = first; // the latest in the program that is at most the device's
  for (uint32_t i = 0; i < program.architecture_count; ++i) {
    const MtcCudaArchitecture &each = program.architectures[i];
    all += (all.empty() ? "" : ", ") + nameOf(capabilityOf(each), each.code);
    if (capabilityOf(each) <= device)
      earlier = std::max(earlier, capabilityOf(each));
  }
  const std::string found = nameOf(device, MTC_CUBIN);
  const std::string remedy =
      device < first ? text("programs of mtc run on GPUs from ", nameOf(first, MTC_CUBIN), " on")
                     : text("compile it again with ", found, " added to --target, or with ",
                            nameOf(earlier, MTC_PTX), ", which all later GPUs run, too");
  systemError("this program has code for ", all, ", and ", gpu.name(), " is ", found, "; ", remedy);
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
              architecture->code == MTC_PTX ? "the driver cannot compile the program's PTX"
                                            : "the program's code cannot be loaded");
  Function function = nullptr;
  gpu.check(gpu.driver.findFunction(&function, module, launch.symbol),
            text("the program's code lacks the kernel ", launch.symbol).c_str());
  return function;
}

Result enqueueLaunch(const Driver &driver, Function function, const MtcCudaLaunch &launch,
                     void *parameters, size_t bytes, Stream stream) {
  void *extra[] = {reinterpret_cast<void *>(parameterBuffer), parameters,
                   reinterpret_cast<void *>(parameterBufferBytes), &bytes,
                   reinterpret_cast<void *>(endOfParameters)};
  const uint32_t *grid = launch.grid, *block = launch.block;
  // Shared memory is static, so the launch requests no dynamic shared memory.
  return driver.launch(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0, stream,
                       nullptr, extra);
}

} // namespace mtc::runtime::cuda
