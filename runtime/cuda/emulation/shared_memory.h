// Shared memory of a block, and who accessed each of its granules, which no access divides: finds
// races and reads of what nobody wrote.
#ifndef MTC_RUNTIME_CUDA_EMULATION_SHARED_MEMORY_H
#define MTC_RUNTIME_CUDA_EMULATION_SHARED_MEMORY_H

#include "runtime/abi/emulation.h"

#include <string>
#include <vector>

namespace mtc::runtime::emulation {

/// Two accesses of a granule by different threads, of which one writes, are a race unless a barrier
/// of the block lies between them, or one of the warp that both are in.
class SharedMemory {
public:
  /// A new block begins; `bytes` is what its kernel declares, `granule` a power of two.
  void startBlock(size_t bytes, size_t granule, unsigned threads);
  void passBarrier() { ++blockTime; }
  void passWarpBarrier(unsigned warp) { ++warpTimes[warp]; }

  /// Records an access of `thread`; empty, or what is wrong with it.
  std::string access(const void *address, uint64_t bytes, const MtcEmulatedAccess &access,
                     unsigned thread);
  bool contains(const void *address);
  /// At a multiple of `alignment`.
  char *data();

private:
  /// Times count up over all blocks, so that what an earlier block left is merely old.
  struct Granule {
    uint32_t writeTime = 0, writeWarpTime = 0;
    uint32_t readTime = 0, readWarpTime = 0;
    uint16_t writer = 0, reader = 0;
    enum : uint8_t { one, sameWarp, several } readers = one;
  };

  bool isOrdered(uint32_t time, uint32_t warpTime, unsigned other, unsigned thread) const;
  bool racesWithReads(const Granule &granule, unsigned thread) const;
  bool isWidelyRead(const Granule &granule) const;
  void recordRead(Granule &granule, unsigned thread);

  static constexpr size_t alignment = 256;

  size_t size = 0, granuleBytes = 1;
  std::vector<char> memory;
  std::vector<Granule> granules;
  std::vector<uint32_t> warpTimes;
  uint32_t blockTime = 1, blockStart = 1;
};

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_CUDA_EMULATION_SHARED_MEMORY_H
