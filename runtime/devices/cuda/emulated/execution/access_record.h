// Who accessed a byte last, and which accesses are a race.
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

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_ACCESS_RECORD_H
