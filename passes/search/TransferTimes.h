//===- TransferTimes.h - Time that a function waits for copies --------------------------------===//

#ifndef MTC_PASSES_SEARCH_TRANSFERTIMES_H
#define MTC_PASSES_SEARCH_TRANSFERTIMES_H

#include "ir/interfaces/TargetInfo.h"
#include "passes/cost/OperationTimes.h"
#include "passes/memory/MemoryAnalysis.h"

namespace mtc {

/// A copy between memory spaces that a function does not contain yet. Positions are those of the
/// function's schedule.
struct PlannedCopy {
  enum class Kind { Window, Fetch, Away, HostUpdate };
  Kind kind;
  /// The kernel that runs in windows or on the host, the first user of the fetched value, or the
  /// operation after which the value is copied away.
  int64_t time;
  int64_t bytes; ///< those copied to the host for a kernel there
  /// For a fetch, the position at which it starts. For a copy to another memory space, the last
  /// position at which the memory of the value is not reused.
  int64_t other = 0;
  bool isRead = true, isWritten = true; ///< Directions of a window's copies.
  int64_t bytesBack = 0;                ///< those copied to the device after a kernel on the host
};

/// Seconds of the copies between memory spaces in one run of a function.
struct TransferTimes {
  double seconds = 0; ///< Sum over all copies.
  double exposed = 0; ///< Increase of the run time of the function.

  TransferTimes &operator+=(const TransferTimes &other) {
    seconds += other.seconds;
    exposed += other.exposed;
    return *this;
  }
};

/// Returns the cost of copies in seconds. It consists of the time by which they extend the
/// function, and of a small fraction of their duration, since copies that overlap with computation
/// compete for memory bandwidth.
inline double addedSeconds(const TransferTimes &before, const TransferTimes &after) {
  return after.exposed - before.exposed + (after.seconds - before.seconds) / 64;
}

/// Simulates a planned function, with additional copies: operations run one after another; copies
/// to the device, copies away from it and kernels on the host run on one stream each. Memory that a
/// copy still reads is assumed to be reused as soon as the plan permits. `slotBytes` is the size of
/// a transfer slot. `estimateTransfers` simulates the allocated function.
TransferTimes estimateTransfers(const FunctionMemory &function, OperationTimes &times,
                                const TargetInfo &target, int64_t slotBytes,
                                mlir::ArrayRef<PlannedCopy> added = {});

} // namespace mtc

#endif // MTC_PASSES_SEARCH_TRANSFERTIMES_H
