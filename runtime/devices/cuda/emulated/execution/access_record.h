// Records of the last accesses to a byte, and race detection. Defined in the header for inlining,
// because emulated kernels call it at each access.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_ACCESS_RECORD_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_ACCESS_RECORD_H

#include "runtime/abi/emulation.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mtc::runtime::emulation {

/// A logical clock of blocks that run sequentially. It advances with each block and each block
/// barrier, so that accesses before them are older; the clock of a warp advances with the warp's
/// barriers.
class AccessClock {
public:
  explicit AccessClock(uint32_t start) : time(start), launch(start), block(start) {}

  void startBlock(unsigned threads) {
    block = ++time;
    warps.resize((threads + warpSize - 1) / warpSize);
  }
  void passBarrier() { ++time; }
  void passWarpBarrier(unsigned warp) { ++warps[warp]; }

  /// The times at which a thread accesses memory. A copy, which the compiler keeps in registers
  /// while it updates records.
  struct Moment {
    uint32_t now, launchStart, blockStart, warpTime;
  };
  Moment at(unsigned thread) const { return {time, launch, block, warps[thread / warpSize]}; }

  uint32_t now() const { return time; }
  uint32_t blockStart() const { return block; }

private:
  static constexpr unsigned warpSize = 32;

  uint32_t time, launch, block;
  std::vector<uint32_t> warps;
};

/// An earlier access that races with the current one.
struct Conflict {
  MtcAccessKind kind;
  uint32_t time;
  unsigned thread;  ///< if it is in the same block; unknown otherwise
  bool amongOthers; ///< several threads made such accesses
};

/// The accesses to one granule. Two accesses by different threads, at least one of which is a
/// write, race unless they are separated by a block barrier of their common block, or by a warp
/// barrier of their common warp. Atomic accesses never race.
class AccessRecord {
public:
  /// Returns whether the bytes were written at this time or later.
  bool isWrittenSince(uint32_t time) const { return writeTime >= time; }
  /// Returns whether another read would add no information: the last write precedes the block's
  /// last barrier, and threads of several warps have read the bytes since.
  bool isWidelyRead(AccessClock::Moment moment) const {
    return readTime == moment.now && readers == several && writeTime < moment.now;
  }

  /// Records an access of `thread`. Accesses before the time `begin` do not race with it. Returns
  /// the conflicting access, if there is one.
  std::optional<Conflict> access(MtcAccessKind kind, unsigned thread, AccessClock::Moment moment,
                                 uint32_t begin);

private:
  std::optional<Conflict> findRead(unsigned thread, AccessClock::Moment moment,
                                   uint32_t begin) const;
  void recordRead(unsigned thread, AccessClock::Moment moment, uint32_t begin);

  uint32_t writeTime = 0, writeWarpTime = 0;
  uint32_t readTime = 0, readWarpTime = 0;
  uint32_t otherReadTime = 0; ///< read by a block before that of the last read
  uint16_t writer = 0, reader = 0;
  enum : uint8_t { one, sameWarp, several } readers = one; ///< since the block's last barrier
};

inline bool areOfOneWarp(unsigned thread, unsigned other) {
  constexpr unsigned warpSize = 32;
  return thread / warpSize == other / warpSize;
}

/// Returns whether an access of `other` at these times happens before the current access of
/// `thread`.
inline bool isOrdered(uint32_t time, uint32_t warpTime, unsigned other, unsigned thread,
                      AccessClock::Moment moment) {
  if (time < moment.blockStart)
    return false; // Blocks of one launch are unordered.
  if (time < moment.now || other == thread)
    return true;
  return areOfOneWarp(thread, other) && warpTime < moment.warpTime;
}

// The function is always inlined, so that the result of an access without a conflict is not passed
// through memory.
[[gnu::always_inline]] inline std::optional<Conflict>
AccessRecord::access(MtcAccessKind kind, unsigned thread, AccessClock::Moment moment,
                     uint32_t begin) {
  if (kind == MTC_ATOMIC)
    return std::nullopt;
  if (writeTime >= begin && !isOrdered(writeTime, writeWarpTime, writer, thread, moment))
    return Conflict{MTC_WRITE, writeTime, writer, false};
  if (kind == MTC_READ) {
    recordRead(thread, moment, begin);
    return std::nullopt;
  }
  if (std::optional<Conflict> conflict = findRead(thread, moment, begin))
    return conflict;
  writeTime = moment.now;
  writeWarpTime = moment.warpTime;
  writer = static_cast<uint16_t>(thread);
  readTime = otherReadTime = 0;
  return std::nullopt;
}

inline std::optional<Conflict> AccessRecord::findRead(unsigned thread, AccessClock::Moment moment,
                                                      uint32_t begin) const {
  const Conflict conflict = {MTC_READ, readTime, reader, readers != one};
  if (otherReadTime >= begin)
    return Conflict{MTC_READ, otherReadTime, 0, true};
  if (readTime < begin)
    return std::nullopt;
  if (readTime < moment.blockStart)
    return conflict;
  if (readTime < moment.now)
    return std::nullopt;
  const bool isRace = readers == one ? !isOrdered(readTime, readWarpTime, reader, thread, moment)
                                     : readers == several || !areOfOneWarp(reader, thread) ||
                                           readWarpTime == moment.warpTime;
  return isRace ? std::optional(conflict) : std::nullopt;
}

inline void AccessRecord::recordRead(unsigned thread, AccessClock::Moment moment, uint32_t begin) {
  if (readTime >= begin && readTime < moment.blockStart)
    otherReadTime = readTime;
  const bool isNew = readTime < moment.now, isOfWarp = areOfOneWarp(reader, thread);
  const uint32_t warpTime = moment.warpTime;
  if (isNew || (readers != several && isOfWarp && readWarpTime < warpTime))
    readers = one;
  else if (readers == one && reader == thread)
    ;
  else if (readers != several && isOfWarp)
    readers = sameWarp;
  else
    readers = several;
  readTime = moment.now;
  readWarpTime = warpTime;
  reader = static_cast<uint16_t>(thread);
}

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_ACCESS_RECORD_H
