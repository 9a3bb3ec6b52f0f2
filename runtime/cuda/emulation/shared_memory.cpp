#include "runtime/cuda/emulation/shared_memory.h"

#include "runtime/failure.h"

#include <cstdint>

namespace mtc::runtime::emulation {

namespace {
constexpr unsigned warpSize = 32;
constexpr const char *verbs[] = {"reads", "writes", "updates"};
} // namespace

void SharedMemory::startBlock(size_t declared, size_t granule, unsigned threads) {
  ++blockTime;
  blockStart = blockTime;
  size = declared;
  granuleBytes = granule;
  if (granules.size() < size)
    granules.resize(size);
  if (memory.size() < size + alignment)
    memory.resize(size + alignment);
  warpTimes.resize((threads + warpSize - 1) / warpSize);
}

char *SharedMemory::data() {
  auto address = reinterpret_cast<uintptr_t>(memory.data());
  return memory.data() + (alignment - address % alignment) % alignment;
}

bool SharedMemory::contains(const void *address) {
  return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(data()) < size;
}

/// Whether an access of `other` at these times is before one that `thread` makes now.
bool SharedMemory::isOrdered(uint32_t time, uint32_t warpTime, unsigned other,
                             unsigned thread) const {
  if (time < blockTime || other == thread)
    return true;
  unsigned warp = thread / warpSize;
  return other / warpSize == warp && warpTime < warpTimes[warp];
}

bool SharedMemory::racesWithReads(const Granule &granule, unsigned thread) const {
  if (granule.readTime < blockTime)
    return false;
  if (granule.readers == Granule::one)
    return !isOrdered(granule.readTime, granule.readWarpTime, granule.reader, thread);
  unsigned warp = thread / warpSize;
  return granule.readers == Granule::several || granule.reader / warpSize != warp ||
         granule.readWarpTime == warpTimes[warp];
}

/// Whether one more read tells nothing new: it was written before the last barrier, and threads of
/// several warps have read it since.
bool SharedMemory::isWidelyRead(const Granule &granule) const {
  return granule.readTime == blockTime && granule.readers == Granule::several &&
         granule.writeTime < blockTime;
}

void SharedMemory::recordRead(Granule &granule, unsigned thread) {
  unsigned warp = thread / warpSize;
  bool isNew = granule.readTime < blockTime;
  bool isOfWarp = granule.reader / warpSize == warp;
  if (isNew ||
      (granule.readers != Granule::several && isOfWarp && granule.readWarpTime < warpTimes[warp]))
    granule.readers = Granule::one;
  else if (granule.readers == Granule::one && granule.reader == thread)
    ;
  else if (granule.readers != Granule::several && isOfWarp)
    granule.readers = Granule::sameWarp;
  else
    granule.readers = Granule::several;
  granule.readTime = blockTime;
  granule.readWarpTime = warpTimes[warp];
  granule.reader = static_cast<uint16_t>(thread);
}

std::string SharedMemory::access(const void *address, uint64_t count,
                                 const MtcEmulatedAccess &access, unsigned thread) {
  uint64_t offset = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(data());
  auto describe = [&](const auto &...rest) {
    return text(verbs[access.kind], " ", count, " bytes at offset ", static_cast<int64_t>(offset),
                " of shared memory, ", rest...);
  };
  if (offset > size || count > size - offset)
    return describe("of which the block has ", size, " bytes: out of bounds");
  if (access.alignment > 1 && offset % access.alignment)
    return describe("which must be a multiple of ", access.alignment, ": misaligned");
  for (uint64_t i = offset / granuleBytes; i * granuleBytes < offset + count; ++i) {
    Granule &granule = granules[i];
    if (access.kind == MTC_READ && isWidelyRead(granule))
      continue;
    bool written = granule.writeTime >= blockStart;
    if (access.kind != MTC_WRITE && !written)
      return describe("where no thread of the block has written: an uninitialised read");
    if (access.kind == MTC_ATOMIC)
      continue;
    if (written && !isOrdered(granule.writeTime, granule.writeWarpTime, granule.writer, thread))
      return describe("which thread ", granule.writer,
                      " wrote since the last barrier that both passed: a race");
    if (access.kind == MTC_READ) {
      recordRead(granule, thread);
      continue;
    }
    if (racesWithReads(granule, thread))
      return describe("which ", granule.readers == Granule::one ? "" : "among others ", "thread ",
                      granule.reader, " read since the last barrier that both passed: a race");
    granule.writeTime = blockTime;
    granule.writeWarpTime = warpTimes[thread / warpSize];
    granule.writer = static_cast<uint16_t>(thread);
    granule.readTime = 0;
  }
  return "";
}

} // namespace mtc::runtime::emulation
