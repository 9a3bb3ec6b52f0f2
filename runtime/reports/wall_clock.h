// The time of day, which reports record.
#ifndef MTC_RUNTIME_REPORTS_WALL_CLOCK_H
#define MTC_RUNTIME_REPORTS_WALL_CLOCK_H

#include <chrono>

namespace mtc::runtime {

inline double secondsSince1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_WALL_CLOCK_H
