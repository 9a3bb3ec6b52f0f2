//===- PlanText.h - Memory plan as text and JSON ----------------------------------------------===//

#ifndef MTC_DRIVER_PLANTEXT_H
#define MTC_DRIVER_PLANTEXT_H

#include "passes/cost/RankTraffic.h"
#include "passes/cost/TransferCost.h"
#include "passes/memory/MemoryPlan.h"
#include "passes/memory/MemoryTimeline.h"

#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace mtc::tool {

/// Returns the output of `mtc plan --json`; `fits` reports whether the budget is met.
llvm::json::Object toJson(const MemoryPlan &plan, std::optional<int64_t> budget);
void print(const MemoryPlan &plan, bool isVerbose, llvm::raw_ostream &stream);

/// Reports the values that are live at the peak, by decreasing size: all of them as JSON, or a
/// readable number of rows as text.
llvm::json::Array aliveAtPeak(const MemoryTimeline &timeline);
void print(const MemoryTimeline &timeline, bool isVerbose, llvm::raw_ostream &stream);

/// Report the estimated step time, in addition to the memory.
void addJson(StepCost &cost, const TransferCost &transfers, llvm::json::Object &object);
void print(StepCost &cost, const TransferCost &transfers, llvm::raw_ostream &stream);

/// Report the ranks, the bytes that they exchange and the time, if the program has ranks.
void addRanks(mlir::ModuleOp placed, llvm::json::Object &object);
void printRanks(mlir::ModuleOp placed, const TransferCost &transfers, llvm::raw_ostream &stream);

/// Returns the nodes at the peak, or an empty string if there are none.
std::string peakNodes(const MemoryPlan &plan);

/// Returns a time with three significant digits: "1.05 s", "320 us".
std::string formatSeconds(double seconds);

/// Returns a name with `*` in place of each number, which corresponding values of different layers
/// share.
std::string withoutNumbers(llvm::StringRef text);
/// Returns a size such as "1.25 GiB (1342177280 bytes)".
std::string formatBytes(int64_t bytes);

} // namespace mtc::tool

#endif // MTC_DRIVER_PLANTEXT_H
