#include "runtime/devices/cuda/emulated/execution/shared_memory.h"

#include "runtime/support/failure.h"

#include <bit>
#include <cstdint>

namespace mtc::runtime::emulation {

void SharedMemory::startBlock(size_t declared, size_t granule) {
  size = declared;
  granuleShift = std::countr_zero(granule);
  if (granules.size() < size)
    granules.resize(size);
  if (memory.size() < size + alignment)
    memory.resize(size + alignment);
}

char *SharedMemory::data() {
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  return memory.data() + (alignment - address % alignment) % alignment;
}

bool SharedMemory::contains(const void *address) {
  return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(data()) < size;
}

std::string SharedMemory::access(const void *address, uint64_t count,
                                 const MtcEmulatedAccess &access, unsigned thread,
                                 const AccessClock &clock) {
  constexpr const char *verbs[] = {"reads", "writes", "updates"};
  uint64_t offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(data());
  auto describe = [&](const auto &...rest) {
    return text(verbs[access.kind], " ", count, " bytes at offset ", static_cast<int64_t>(offset),
                " of shared memory, ", rest...);
  };
  if (offset > size || count > size - offset)
    return describe("of which the block has ", size, " bytes: out of bounds");
  if (access.alignment > 1 && offset & (access.alignment - 1))
    return describe("which must be a multiple of ", access.alignment, ": misaligned");
  for (uint64_t i = offset >> granuleShift; (i << granuleShift) < offset + count; ++i) {
    AccessRecord &granule = granules[i];
    if (access.kind == MTC_READ && granule.isWidelyRead(clock))
      continue;
    if (access.kind != MTC_WRITE && !granule.isWrittenSince(clock.blockStart()))
      return describe("where no thread of the block has written: an uninitialized read");
    if (auto conflict = granule.access(static_cast<MtcAccessKind>(access.kind), thread, clock,
                                       clock.blockStart()))
      return describe("which ", conflict->amongOthers ? "among others " : "", "thread ",
                      conflict->thread, conflict->kind == MTC_WRITE ? " wrote" : " read",
                      " since the last barrier that both passed: a race");
  }
  return "";
}

} // namespace mtc::runtime::emulation
