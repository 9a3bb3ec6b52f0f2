#include "runtime/cuda/emulation/shared_memory.h"

#include "runtime/failure.h"

#include <cstdint>

namespace mtc::runtime::emulation {

namespace {
constexpr unsigned warpSize = 32;
constexpr const char *verbs[] = {"reads", "writes", "updates"};
} // namespace

void SharedMemory::startBlock(size_t declared, unsigned threads) {
  ++blockTime;
  blockStart = blockTime;
  size = declared;
  if (bytes.size() < size) {
    bytes.resize(size);
    memory.resize(size + alignment);
  }
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

bool SharedMemory::racesWithReads(const Byte &byte, unsigned thread) const {
  if (byte.readTime < blockTime)
    return false;
  if (byte.readers == Byte::one)
    return !isOrdered(byte.readTime, byte.readWarpTime, byte.reader, thread);
  unsigned warp = thread / warpSize;
  return byte.readers == Byte::several || byte.reader / warpSize != warp ||
         byte.readWarpTime == warpTimes[warp];
}

void SharedMemory::recordRead(Byte &byte, unsigned thread) {
  unsigned warp = thread / warpSize;
  bool isNew = byte.readTime < blockTime;
  bool isOfWarp = byte.reader / warpSize == warp;
  if (isNew || (byte.readers != Byte::several && isOfWarp && byte.readWarpTime < warpTimes[warp]))
    byte.readers = Byte::one;
  else if (byte.readers == Byte::one && byte.reader == thread)
    ;
  else if (byte.readers != Byte::several && isOfWarp)
    byte.readers = Byte::sameWarp;
  else
    byte.readers = Byte::several;
  byte.readTime = blockTime;
  byte.readWarpTime = warpTimes[warp];
  byte.reader = static_cast<uint16_t>(thread);
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
  for (uint64_t i = offset; i < offset + count; ++i) {
    Byte &byte = bytes[i];
    bool written = byte.writeTime >= blockStart;
    if (access.kind != MTC_WRITE && !written)
      return describe("where no thread of the block has written: an uninitialised read");
    if (access.kind == MTC_ATOMIC)
      continue;
    if (written && !isOrdered(byte.writeTime, byte.writeWarpTime, byte.writer, thread))
      return describe("which thread ", byte.writer,
                      " wrote since the last barrier that both passed: a race");
    if (access.kind == MTC_READ) {
      recordRead(byte, thread);
      continue;
    }
    if (racesWithReads(byte, thread))
      return describe("which ", byte.readers == Byte::one ? "" : "among others ", "thread ",
                      byte.reader, " read since the last barrier that both passed: a race");
    byte.writeTime = blockTime;
    byte.writeWarpTime = warpTimes[thread / warpSize];
    byte.writer = static_cast<uint16_t>(thread);
    byte.readTime = 0;
  }
  return "";
}

} // namespace mtc::runtime::emulation
