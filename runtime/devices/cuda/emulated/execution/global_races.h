// Races on device memory between threads of one launch, of the same block or of different ones.
#ifndef MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_RACES_H
#define MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_RACES_H

#include "runtime/devices/cuda/emulated/execution/access_record.h"

#include <array>
#include <unordered_map>

namespace mtc::runtime::emulation {

/// The accesses of each byte of device memory that kernels touch. Only where MTC_EMULATED_RACES is
/// set: it takes 28 bytes of memory for each, a call for each access, and blocks must run one after
/// another.
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
  static constexpr size_t pageBytes = 4096;
  using Page = std::array<AccessRecord, pageBytes>;

  AccessRecord &recordOf(uintptr_t address);

  std::unordered_map<uintptr_t, Page> pages;
  uintptr_t lastNumber = 0; ///< of the page that was asked for last
  Page *lastPage = nullptr;
  uint32_t latest = 0;
};

} // namespace mtc::runtime::emulation

#endif // MTC_RUNTIME_DEVICES_CUDA_EMULATED_EXECUTION_GLOBAL_RACES_H
