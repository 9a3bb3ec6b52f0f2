#include "runtime/devices/cuda/emulated/execution/global_races.h"

#include <cstdlib>
#include <string_view>

namespace mtc::runtime::emulation {

GlobalRaces *GlobalRaces::get() {
  static const char *const given = std::getenv("MTC_EMULATED_RACES");
  if (!given || std::string_view(given) != "1")
    return nullptr;
  static GlobalRaces instance;
  return &instance;
}

uint32_t GlobalRaces::startLaunch() {
  constexpr uint32_t maxTime = uint32_t{1} << 31;
  if (latest > maxTime) { // All that is recorded is old.
    pages.clear();
    lastPage = nullptr;
    latest = 0;
  }
  return ++latest;
}

AccessRecord &GlobalRaces::recordOf(uintptr_t address) {
  const uintptr_t number = address / pageBytes;
  if (!lastPage || number != lastNumber) {
    lastPage = &pages[number];
    lastNumber = number;
  }
  return (*lastPage)[address % pageBytes];
}

std::optional<Conflict> GlobalRaces::access(const void *address, uint64_t bytes, MtcAccessKind kind,
                                            unsigned thread, const AccessClock &clock) {
  latest = clock.now();
  const auto first = reinterpret_cast<uintptr_t>(address);
  for (uintptr_t each = first; each < first + bytes; ++each)
    if (auto conflict = recordOf(each).access(kind, thread, clock, clock.launchStart()))
      return conflict;
  return std::nullopt;
}

} // namespace mtc::runtime::emulation
