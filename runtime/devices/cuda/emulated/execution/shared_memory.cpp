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

std::string SharedMemory::describe(const void *address, uint64_t count,
                                   const MtcEmulatedAccess &access) {
  constexpr const char *verbs[] = {"reads", "writes", "updates"};
  const auto offset = static_cast<const char *>(address) - data();
  return text(verbs[access.kind], " ", count, " bytes at offset ", offset, " of shared memory, ");
}

bool SharedMemory::access(const void *address, uint64_t count, const MtcEmulatedAccess &access,
                          unsigned thread, const AccessClock &clock, std::string &wrong) {
  const uint64_t offset =
      reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(data());
  if (offset > size || count > size - offset) {
    wrong = text(describe(address, count, access), "of which the block has ", size,
                 " bytes: out of bounds");
    return false;
  }
  if (access.alignment > 1 && offset & (access.alignment - 1)) {
    wrong = text(describe(address, count, access), "which must be a multiple of ", access.alignment,
                 ": misaligned");
    return false;
  }
  const AccessClock::Moment moment = clock.at(thread);
  const auto kind = static_cast<MtcAccessKind>(access.kind);
  AccessRecord *granule = granules.data() + (offset >> granuleShift);
  AccessRecord *const end =
      granules.data() + ((offset + count + (uint64_t{1} << granuleShift) - 1) >> granuleShift);
  for (; granule < end; ++granule) {
    if (kind == MTC_READ && granule->isWidelyRead(moment))
      continue;
    if (kind != MTC_WRITE && !granule->isWrittenSince(moment.blockStart)) {
      wrong = text(describe(address, count, access),
                   "where no thread of the block has written: an uninitialized read");
      return false;
    }
    if (auto conflict = granule->access(kind, thread, moment, moment.blockStart)) {
      wrong = text(describe(address, count, access), "which ",
                   conflict->amongOthers ? "among others " : "", "thread ", conflict->thread,
                   conflict->kind == MTC_WRITE ? " wrote" : " read",
                   " since the last barrier that both passed: a race");
      return false;
    }
  }
  return true;
}

} // namespace mtc::runtime::emulation
