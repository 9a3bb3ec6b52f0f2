// Who accessed a byte last, and which accesses are a race. Here for inlining: emulated kernels ask
// at each access.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_ACCESS_RECORD_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_ACCESS_RECORD_H

#include "runtime/abi/emulation.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mtc::runtime::emulation {

/// The time of blocks that run one after another. It goes on with each block and each barrier of
/// one, so that what lies before is merely old; a warp's own time goes on with the warp's barriers.
class AccessClock {
public:
  explicit AccessClock(uint32_t start) : time(start), launch(start), block(start) {}

  void startBlock(unsigned threads) {
    block = ++time;
    warps.resize((threads + warpSize - 1) / warpSize);
  }
  void passBarrier() { ++time; }
  void passWarpBarrier(unsigned warp) { ++warps[warp]; }

  uint32_t now() const { return time; }
  uint32_t launchStart() const { return launch; }
  uint32_t blockStart() const { return block; }
  uint32_t warpTime(unsigned thread) const { return warps[thread / warpSize]; }

private:
  static constexpr unsigned warpSize = 32;

  uint32_t time, launch, block;
  std::vector<uint32_t> warps;
};

/// An access that another one is a race with.
struct Conflict {
  MtcAccessKind kind;
  uint32_t time;
  unsigned thread;  ///< of the same block; of another one it is not known
  bool amongOthers; ///< several threads made such accesses
};

/// The accesses of one range of bytes that none of them divides. Two by different threads, of which
/// one writes, are a race unless a barrier of the block that both are in lies between them, or one
/// of the warp that both are in. Atomic accesses are taken to be no race with anything.
class AccessRecord {
public:
  /// Whether the bytes were written at this time or later.
  bool isWrittenSince(uint32_t time) const { return writeTime >= time; }
  /// Whether one more read tells nothing new: it was written before the last barrier of the block,
  /// and threads of several warps have read it since.
  bool isWidelyRead(const AccessClock &clock) const {
    return readTime == clock.now() && readers == several && writeTime < clock.now();
  }

  /// Records an access of `thread`. Nothing before the time `begin` is a race with it.
  std::optional<Conflict> access(MtcAccessKind kind, unsigned thread, const AccessClock &clock,
                                 uint32_t begin);

private:
  std::optional<Conflict> findRead(unsigned thread, const AccessClock &clock, uint32_t begin) const;
  void recordRead(unsigned thread, const AccessClock &clock, uint32_t begin);

  uint32_t writeTime = 0, writeWarpTime = 0;
  uint32_t readTime = 0, readWarpTime = 0;
  uint32_t otherReadTime = 0; ///< of a block before that of the last read
  uint16_t writer = 0, reader = 0;
  enum : uint8_t { one, sameWarp, several } readers = one; ///< since the block's last barrier
};

inline bool areOfOneWarp(unsigned thread, unsigned other) {
  constexpr unsigned warpSize = 32;
  return thread / warpSize == other / warpSize;
}

/// Whether an access of `other` at these times is before one that `thread` makes now.
inline bool isOrdered(uint32_t time, uint32_t warpTime, unsigned other, unsigned thread,
                      const AccessClock &clock) {
  if (time < clock.blockStart())
    return false; // Nothing orders blocks of one launch.
  if (time < clock.now() || other == thread)
    return true;
  return areOfOneWarp(thread, other) && warpTime < clock.warpTime(thread);
}

inline std::optional<Conflict> AccessRecord::access(MtcAccessKind kind, unsigned thread,
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

inline std::optional<Conflict> AccessRecord::findRead(unsigned thread, const AccessClock &clock,
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

inline void AccessRecord::recordRead(unsigned thread, const AccessClock &clock, uint32_t begin) {
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

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_ACCESS_RECORD_H
