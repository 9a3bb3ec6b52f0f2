//===- Segments.cpp - Recomputation of segments between checkpoints ---------------------------===//

#include "passes/recompute/Segments.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mtc;

Segments::Segments(const FunctionBudget &budget, OperationTimes &times)
    : budget(budget), times(times), listeners(budget.analysis, times),
      checkpoints(findCheckpoints(budget.function.getFunction())) {}

LogicalResult Segments::recompute() {
  values = std::make_unique<Rematerializer>(budget.function.getFunction().front(), listeners);
  for (OpResult value : checkpoints.kept)
    values->keep(value);
  for (OpResult value : checkpoints.recomputed)
    if (std::optional<Rematerializer::Added> added = values->evict(
            value, checkpoints.forwardEnd, Rematerializer::DeadOperands::ComputeAgain)) {
      time += added->remember(times);
      llvm::append_range(copies, added->copies);
      ++count;
    }
  return budget.analysis.update();
}

void Segments::undo() {
  if (values)
    values->undoTo(0);
  copies.clear();
  count = 0;
  time = 0;
}

void mtc::reportRecomputed(const FunctionBudget &budget, OperationTimes &times, size_t count,
                           double time) {
  if (!count)
    return;
  func::FuncOp function = budget.function.getFunction();
  const double without = times.ofFunction(function) - time;
  remark::passed(function.getLoc(),
                 remark::RemarkOpts::name("recomputed").category("mtc-recompute"))
      << remark::add("{0} values of {1}, {2} % of its time", count, function.getSymName(),
                     llvm::formatv("{0:f1}", 100 * time / without).str());
}
