//===- Plan.h - Memory plan for given settings ------------------------------------------------===//

#ifndef MTC_PASSES_PLANNING_PLAN_H
#define MTC_PASSES_PLANNING_PLAN_H

#include "passes/planning/Technique.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"

namespace mtc {

/// Peak memory and estimated cost of an update, which includes all micro-batches and the part of
/// transfers that computation does not hide.
struct PlanCost {
  int64_t peak = 0;
  double seconds = 0;
  int64_t flops = 0;

  bool operator==(const PlanCost &) const = default;
};

/// Settings to plan with.
struct PlanRequest {
  PlanSettings settings;
  std::string flags = {}; ///< Flags of the changes; "" if there are none.
  Effect effect = Effect::None;
};

/// The result of a request.
struct Plan {
  PlanRequest request;
  PlanCost cost;
  /// Whether the variables alone exceed the budget; `cost.peak` then only covers them.
  bool isTooMuch = false;
  /// Null if `isTooMuch`, or if the search found that the update takes longer than of interest.
  mlir::OwningOpRef<mlir::ModuleOp> allocated;
  std::vector<mlir::Diagnostic> messages; ///< Those of the passes.

  /// Returns whether the plan meets a budget in bytes.
  bool fits(int64_t budget) const { return !isTooMuch && cost.peak <= budget; }
};

} // namespace mtc

#endif // MTC_PASSES_PLANNING_PLAN_H
