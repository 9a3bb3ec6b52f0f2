//===- PlanText.h - A plan as a page and as JSON ----------------------------------------------===//

#ifndef MTC_DRIVER_PLANTEXT_H
#define MTC_DRIVER_PLANTEXT_H

#include "passes/cost/TransferCost.h"
#include "passes/memory/MemoryPlan.h"
#include "passes/memory/MemoryTimeline.h"

#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace mtc::tool {

/// What `mtc plan --json` prints; `fits` says whether a budget is kept.
llvm::json::Object toJson(const MemoryPlan &plan, std::optional<int64_t> budget);
void print(const MemoryPlan &plan, bool isVerbose, llvm::raw_ostream &stream);

/// What is alive at the peak, the largest first: all of it, or as many rows as one reads.
llvm::json::Array aliveAtPeak(const MemoryTimeline &timeline);
void print(const MemoryTimeline &timeline, bool isVerbose, llvm::raw_ostream &stream);

/// The same of a step's time: adds to what is printed of its memory.
void addJson(StepCost &cost, const TransferCost &transfers, llvm::json::Object &object);
void print(StepCost &cost, const TransferCost &transfers, llvm::raw_ostream &stream);

/// The nodes at which most is alive; empty if there are none.
std::string peakNodes(const MemoryPlan &plan);

/// "1.05 s", "320 us": three digits.
std::string formatSeconds(double seconds);

/// "1.25 GiB (1342177280 bytes)".
/// A name with `*` for each number, so that equal layers have one name.
std::string withoutNumbers(llvm::StringRef text);
std::string formatBytes(int64_t bytes);

} // namespace mtc::tool

#endif // MTC_DRIVER_PLANTEXT_H
