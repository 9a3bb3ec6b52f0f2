// Selects the code for a device by its compute capability.
#include "runtime/devices/cuda/architecture.h"

#include "runtime/devices/cuda/driver.h"
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

[[noreturn]] static void refuse(const MtcCudaProgram &program, const std::string &gpu,
                                Capability device) {
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
  systemError("this program has code for ", all, ", and ", gpu, " is ", found, "; ", remedy);
}

gpu::KernelCode chooseCode(const MtcCudaProgram &program, const gpu::Gpu &gpu) {
  if (program.is_emulated)
    return {.images = nullptr, .imageCount = program.image_count, .loadFailure = ""};
  const Capability device = {static_cast<uint32_t>(gpu.attribute(majorAttribute)),
                             static_cast<uint32_t>(gpu.attribute(minorAttribute))};
  const MtcCudaArchitecture *best = chooseArchitecture(program, device.first, device.second);
  if (!best)
    refuse(program, gpu.name(), device);
  return {.images = best->images,
          .imageCount = program.image_count,
          .loadFailure = best->code == MTC_PTX ? "the driver cannot compile the program's PTX"
                                               : "the program's code cannot be loaded"};
}

} // namespace mtc::runtime::cuda
