//===- MemoryPlan.h - What a placed program needs ---------------------------------------------===//

#ifndef MTC_DRIVER_MEMORYPLAN_H
#define MTC_DRIVER_MEMORYPLAN_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace mtc::tool {

/// The memory of a program, in bytes. The categories add up to the peak.
struct MemoryPlan {
  int64_t peak = 0; // The arena's size.
  int64_t live = 0; // The most that is alive at once: no placement of these values is smaller.
  int64_t parameters = 0, gradients = 0, optimizer = 0, activations = 0, workspace = 0, data = 0;
  int64_t gradientsRun = 0; // Of a run with --gradients, where that needs more; else 0.
  std::string peakAt;       // The node at which most is alive.

  static MemoryPlan of(mlir::ModuleOp placed);
  /// As design's `mtc plan --json`; `fits` where a budget was given.
  llvm::json::Object toJson(std::optional<int64_t> budget) const;
  void print(llvm::raw_ostream &stream) const;
};

/// "1.25 GiB (1342177280 bytes)".
std::string formatBytes(int64_t bytes);

} // namespace mtc::tool

#endif // MTC_DRIVER_MEMORYPLAN_H
