#include "runtime/devices/cuda/emulated/execution/global_access.h"

#include "runtime/support/failure.h"

namespace mtc::runtime::emulation {

std::string GlobalAccess::describe() const {
  constexpr const char *verbs[] = {"reads", "writes", "updates"};
  const std::string what = text(verbs[instruction.kind], " ", bytes, " bytes at ");
  if (parameter && instruction.parameter >= 0)
    return text(what, "offset ", offset(), " of parameter ", instruction.parameter);
  return text(what, "address ", address);
}

std::string findGlobalFault(const GlobalAccess &access) {
  const MtcEmulatedAccess &instruction = access.instruction;
  if (!access.isInExtent())
    return text(access.describe(), ", which has ", instruction.extent, " bytes: out of bounds");
  if (!access.isAligned())
    return text(access.describe(), ", an address that is no multiple of ", instruction.alignment,
                ": misaligned");
  const DeviceMemory &memory = DeviceMemory::get();
  const bool isRead = instruction.kind != MTC_WRITE;
  if (std::string fault = memory.findFault(access.address, access.bytes, /*isRead=*/false);
      !fault.empty())
    return text(access.describe(), ", which are ", fault, ": out of bounds");
  if (std::string fault = memory.findFault(access.address, access.bytes, isRead); !fault.empty())
    return text(access.describe(), ", which are ", fault, ": an uninitialized read");
  return "";
}

} // namespace mtc::runtime::emulation
