#include "runtime/devices/cuda/emulated/execution/global_access.h"

#include "runtime/devices/cuda/emulated/execution/device_memory.h"
#include "runtime/support/failure.h"

namespace mtc::runtime::emulation {

static int64_t offsetOf(const GlobalAccess &access) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(access.address) -
                              reinterpret_cast<uintptr_t>(access.parameter));
}

std::string GlobalAccess::describe() const {
  constexpr const char *verbs[] = {"reads", "writes", "updates"};
  const std::string what = text(verbs[instruction.kind], " ", bytes, " bytes at ");
  if (parameter && instruction.parameter >= 0)
    return text(what, "offset ", offsetOf(*this), " of parameter ", instruction.parameter);
  return text(what, "address ", address);
}

std::string findGlobalFault(const GlobalAccess &access) {
  const MtcEmulatedAccess &instruction = access.instruction;
  const int64_t offset = offsetOf(access);
  if (access.parameter && instruction.extent >= 0 &&
      (offset < 0 || offset + static_cast<int64_t>(access.bytes) > instruction.extent))
    return text(access.describe(), ", which has ", instruction.extent, " bytes: out of bounds");
  if (instruction.alignment > 1 &&
      reinterpret_cast<uintptr_t>(access.address) % instruction.alignment)
    return text(access.describe(), ", an address that is no multiple of ", instruction.alignment,
                ": misaligned");
  const DeviceMemory &memory = DeviceMemory::get();
  const bool isRead = instruction.kind != MTC_WRITE;
  if (memory.mayAccess(access.address, access.bytes, isRead))
    return "";
  if (std::string fault = memory.findFault(access.address, access.bytes, /*isRead=*/false);
      !fault.empty())
    return text(access.describe(), ", which are ", fault, ": out of bounds");
  if (std::string fault = memory.findFault(access.address, access.bytes, isRead); !fault.empty())
    return text(access.describe(), ", which are ", fault, ": an uninitialized read");
  return "";
}

} // namespace mtc::runtime::emulation
