// Races on device memory between threads of one launch, of the same block or of different ones.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_RACES_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_RACES_H

#include "runtime/devices/cuda/emulated/execution/access_record.h"

#include <unordered_map>
#include <vector>

namespace mtc::runtime::emulation {

/// The accesses of device memory that kernels touch. Only where MTC_EMULATED_RACES is set: it takes
/// 28 bytes for each granule, a call for each access, and blocks must run one after another.
class GlobalRaces {
public:
  /// Null where races are not looked for.
  static GlobalRaces *get();

  /// A time later than all before.
  uint32_t startLaunch();
  /// Records an access of `thread` of the running block.
  std::optional<Conflict> access(const void *address, uint64_t bytes, MtcAccessKind kind,
                                 unsigned thread, const AccessClock &clock);

private:
  /// A record for each granule: a range that no access so far has divided.
  struct Page {
    static constexpr size_t bytes = 4096;

    int granuleShift = 4; ///< of its bytes, as a power of two: no access has more than 16
    std::vector<AccessRecord> records = std::vector<AccessRecord>(bytes >> granuleShift);

    /// Makes granules small enough for an access.
    void divide(uintptr_t address, uint64_t count);
  };

  Page &pageOf(uintptr_t address);

  std::unordered_map<uintptr_t, Page> pages;
  uintptr_t lastNumber = 0; ///< of the page that was asked for last
  Page *lastPage = nullptr;
  uint32_t latest = 0;
};

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_RACES_H
