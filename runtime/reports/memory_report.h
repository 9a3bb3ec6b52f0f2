// --memory-report: planned and used memory.
#ifndef MTC_RUNTIME_REPORTS_MEMORY_REPORT_H
#define MTC_RUNTIME_REPORTS_MEMORY_REPORT_H

#include "runtime/collectives/ranks.h"
#include "runtime/devices/device.h"

#include <string>
#include <vector>

namespace mtc::runtime {

/// The memory and the traffic of a rank.
struct RankMemory {
  std::string rank; ///< with its host
  int64_t arenaBytes, processPeak, allToAllBytes, allGatherBytes, messageBytes;
};

/// Returns the memory of all ranks; empty for a single process. All ranks must call it.
std::vector<RankMemory> gatherMemory(Ranks &ranks, int64_t arenaBytes);

/// Writes JSON for a run with an arena of `arenaBytes`: planned_bytes, arena_bytes,
/// process_peak_bytes, the memory outside the arena with its reasons, and the ranks if there are
/// several.
void writeMemoryReport(const MtcProgram &program, Device &device, int64_t arenaBytes,
                       const std::vector<RankMemory> &ranks, const std::string &path);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_MEMORY_REPORT_H
