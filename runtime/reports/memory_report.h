// --memory-report: planned and used memory.
#ifndef MTC_RUNTIME_REPORTS_MEMORY_REPORT_H
#define MTC_RUNTIME_REPORTS_MEMORY_REPORT_H

#include "runtime/devices/device.h"

#include <string>

namespace mtc::runtime {

/// Writes JSON for a run with an arena of `arenaBytes`: planned_bytes, arena_bytes,
/// process_peak_bytes, and the memory outside the arena with its reasons.
void writeMemoryReport(const MtcProgram &program, Device &device, int64_t arenaBytes,
                       const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_MEMORY_REPORT_H
