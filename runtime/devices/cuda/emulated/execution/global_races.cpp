#include "runtime/devices/cuda/emulated/execution/global_races.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string_view>
#include <utility>

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
  if (latest > maxTime) { // All recorded accesses are from earlier launches.
    pages.clear();
    recent = {};
    latest = 0;
  }
  return ++latest;
}

void GlobalRaces::Page::divide(uintptr_t address, uint64_t count) {
  const int wanted = std::countr_zero(address | count);
  if (wanted >= granuleShift)
    return;
  const int halvings = granuleShift - wanted;
  std::vector<AccessRecord> divided(records.size() << halvings);
  for (size_t i = 0; i < divided.size(); ++i)
    divided[i] = records[i >> halvings];
  records = std::move(divided);
  granuleShift = wanted;
}

GlobalRaces::Page &GlobalRaces::pageOf(uintptr_t address) {
  const uintptr_t number = address / Page::bytes;
  Recent &entry = recent[number % recent.size()];
  if (!entry.page || entry.number != number)
    entry = {number, &pages[number]};
  return *entry.page;
}

std::optional<Conflict> GlobalRaces::access(const void *address, uint64_t bytes, MtcAccessKind kind,
                                            unsigned thread, const AccessClock &clock) {
  const AccessClock::Moment moment = clock.at(thread);
  latest = moment.now;
  auto at = reinterpret_cast<uintptr_t>(address);
  while (bytes) {
    Page &page = pageOf(at);
    const uint64_t count = std::min<uint64_t>(bytes, Page::bytes - at % Page::bytes);
    page.divide(at, count);
    AccessRecord *record = &page.records[at % Page::bytes >> page.granuleShift];
    for (uint64_t i = 0; i < count >> page.granuleShift; ++i)
      if (auto conflict = record[i].access(kind, thread, moment, moment.launchStart))
        return conflict;
    at += count;
    bytes -= count;
  }
  return std::nullopt;
}

} // namespace mtc::runtime::emulation
