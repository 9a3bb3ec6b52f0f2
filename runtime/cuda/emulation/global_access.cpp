#include "runtime/cuda/emulation/global_access.h"

#include "runtime/cuda/emulation/device_memory.h"
#include "runtime/failure.h"

namespace mtc::runtime::emulation {

std::string findGlobalFault(const void *address, uint64_t bytes, const char *parameter,
                            const MtcEmulatedAccess &access) {
  constexpr const char *verbs[] = {"reads", "writes", "updates"};
  auto number = reinterpret_cast<uintptr_t>(address);
  int64_t offset = static_cast<int64_t>(number - reinterpret_cast<uintptr_t>(parameter));
  auto describe = [&](const auto &...rest) {
    if (parameter && access.parameter >= 0)
      return text(verbs[access.kind], " ", bytes, " bytes at offset ", offset, " of parameter ",
                  access.parameter, rest...);
    return text(verbs[access.kind], " ", bytes, " bytes at address ", address, rest...);
  };
  bool hasExtent = parameter && access.extent >= 0;
  if (hasExtent && (offset < 0 || offset + static_cast<int64_t>(bytes) > access.extent))
    return describe(", which has ", access.extent, " bytes: out of bounds");
  if (access.alignment > 1 && number % access.alignment)
    return describe(", an address that is no multiple of ", access.alignment, ": misaligned");
  const DeviceMemory &memory = DeviceMemory::get();
  if (std::string fault = memory.findFault(address, bytes, /*isRead=*/false); !fault.empty())
    return describe(", which are ", fault, ": out of bounds");
  if (access.kind != MTC_WRITE)
    if (std::string fault = memory.findFault(address, bytes, /*isRead=*/true); !fault.empty())
      return describe(", which are ", fault, ": an uninitialised read");
  return "";
}

} // namespace mtc::runtime::emulation
