#include "runtime/devices/cuda/emulated/execution/access_record.h"

namespace mtc::runtime::emulation {

static bool areOfOneWarp(unsigned thread, unsigned other) {
  constexpr unsigned warpSize = 32;
  return thread / warpSize == other / warpSize;
}

/// Whether an access of `other` at these times is before one that `thread` makes now.
static bool isOrdered(uint32_t time, uint32_t warpTime, unsigned other, unsigned thread,
                      const AccessClock &clock) {
  if (time < clock.blockStart())
    return false; // Nothing orders blocks of one launch.
  if (time < clock.now() || other == thread)
    return true;
  return areOfOneWarp(thread, other) && warpTime < clock.warpTime(thread);
}

std::optional<Conflict> AccessRecord::access(MtcAccessKind kind, unsigned thread,
                                             const AccessClock &clock, uint32_t begin) {
  if (kind == MTC_ATOMIC)
    return std::nullopt;
  if (writeTime >= begin && !isOrdered(writeTime, writeWarpTime, writer, thread, clock))
    return Conflict{MTC_WRITE, writeTime, writer, false};
  if (kind == MTC_READ) {
    recordRead(thread, clock, begin);
    return std::nullopt;
  }
  if (std::optional<Conflict> conflict = findRead(thread, clock, begin))
    return conflict;
  writeTime = clock.now();
  writeWarpTime = clock.warpTime(thread);
  writer = static_cast<uint16_t>(thread);
  readTime = otherReadTime = 0;
  return std::nullopt;
}

std::optional<Conflict> AccessRecord::findRead(unsigned thread, const AccessClock &clock,
                                               uint32_t begin) const {
  const Conflict conflict = {MTC_READ, readTime, reader, readers != one};
  if (otherReadTime >= begin)
    return Conflict{MTC_READ, otherReadTime, 0, true};
  if (readTime < begin)
    return std::nullopt;
  if (readTime < clock.blockStart())
    return conflict;
  if (readTime < clock.now())
    return std::nullopt;
  const bool isRace = readers == one ? !isOrdered(readTime, readWarpTime, reader, thread, clock)
                                     : readers == several || !areOfOneWarp(reader, thread) ||
                                           readWarpTime == clock.warpTime(thread);
  return isRace ? std::optional(conflict) : std::nullopt;
}

void AccessRecord::recordRead(unsigned thread, const AccessClock &clock, uint32_t begin) {
  if (readTime >= begin && readTime < clock.blockStart())
    otherReadTime = readTime;
  const bool isNew = readTime < clock.now(), isOfWarp = areOfOneWarp(reader, thread);
  const uint32_t warpTime = clock.warpTime(thread);
  if (isNew || (readers != several && isOfWarp && readWarpTime < warpTime))
    readers = one;
  else if (readers == one && reader == thread)
    ;
  else if (readers != several && isOfWarp)
    readers = sameWarp;
  else
    readers = several;
  readTime = clock.now();
  readWarpTime = warpTime;
  reader = static_cast<uint16_t>(thread);
}

} // namespace mtc::runtime::emulation
