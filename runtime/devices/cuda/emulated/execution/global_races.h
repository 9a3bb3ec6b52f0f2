// Data races in global memory between threads of one launch, in the same block or in different
// blocks.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_RACES_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_RACES_H

#include "runtime/devices/cuda/emulated/execution/access_record.h"

#include <array>
#include <unordered_map>
#include <vector>

namespace mtc::runtime::emulation {

/// Detects races by recording all global-memory accesses. Enabled by MTC_EMULATED_RACES, because it
/// takes 28 bytes per granule and a call per access, and requires blocks to run sequentially.
class GlobalRaces {
public:
  /// Returns null if race detection is disabled.
  static GlobalRaces *get();

  /// Returns a time later than all previous ones.
  uint32_t startLaunch();
  /// Records an access of `thread` of the running block. Returns the conflicting access, if there
  /// is one.
  std::optional<Conflict> access(const void *address, uint64_t bytes, MtcAccessKind kind,
                                 unsigned thread, const AccessClock &clock);

private:
  /// The records of a page, one per granule: a range that every access so far covers completely or
  /// not at all.
  struct Page {
    static constexpr size_t bytes = 4096;

    int granuleShift = 4; ///< log2 of the granule size; an access has at most 16 bytes
    std::vector<AccessRecord> records = std::vector<AccessRecord>(bytes >> granuleShift);

    /// Splits granules until an access covers whole ones.
    void divide(uintptr_t address, uint64_t count);
  };

  Page &pageOf(uintptr_t address);

  std::unordered_map<uintptr_t, Page> pages;
  struct Recent {
    uintptr_t number = 0;
    Page *page = nullptr;
  };
  /// Pages that were used last, by the low bits of their numbers.
  std::array<Recent, 1024> recent;
  uint32_t latest = 0;
};

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_RACES_H
