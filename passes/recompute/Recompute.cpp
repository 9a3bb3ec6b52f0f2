//===- Recompute.cpp - Kernels and calls run again so that the peak fits ----------------------===//

#include "passes/Passes.h"
#include "passes/recompute/Checkpoints.h"
#include "passes/recompute/Ladder.h"
#include "passes/recompute/RecomputeOptions.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

namespace mtc {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// What a choice of --recompute works with.
struct Problem {
  const FunctionMemory &function;
  MemoryAnalysis &analysis;
  OperationTimes &times;
  int64_t budget; ///< bytes of the arena
};

/// What was computed again, and the seconds that are added.
struct Outcome {
  size_t count = 0;
  double time = 0;
};

FailureOr<Outcome> climb(const Problem &problem, int64_t budget) {
  Ladder ladder(problem.function, problem.analysis, problem.times, budget);
  if (failed(ladder.climb()))
    return failure();
  return Outcome{ladder.getCount(), ladder.getTime()};
}

FailureOr<Outcome> recomputeToFit(const Problem &problem) { return climb(problem, problem.budget); }

FailureOr<Outcome> recomputeAll(const Problem &problem) { return climb(problem, /*budget=*/0); }

/// Segments between checkpoints, where that lowers the peak.
FailureOr<Outcome> recomputeSegments(const Problem &problem) {
  func::FuncOp function = problem.function.getFunction();
  Checkpoints checkpoints = findCheckpoints(function);
  const OrderScore before = OrderModel(problem.function).scoreAsItIs();
  Rematerializer values(function.front(), problem.analysis);
  for (OpResult value : checkpoints.kept)
    values.keep(value);
  Outcome outcome;
  for (OpResult value : checkpoints.recomputed)
    if (std::optional<Rematerializer::Added> added = values.evict(
            value, checkpoints.forwardEnd, Rematerializer::DeadOperands::ComputeAgain)) {
      ++outcome.count;
      outcome.time += problem.times.of(*added);
    }
  if (failed(problem.analysis.getPlan()))
    return failure();
  if (OrderModel(problem.function).scoreAsItIs() < before)
    return outcome;
  values.undoTo(0);
  if (failed(problem.analysis.getPlan()))
    return failure();
  return Outcome();
}

/// What the choices other than `none` do.
using Strategy = FailureOr<Outcome> (*)(const Problem &);
constexpr std::pair<StringLiteral, Strategy> strategies[] = {
    {"sqrt", recomputeSegments},
    {"auto", recomputeToFit},
    {"all", recomputeAll},
};

struct RecomputePass : PassWithOptions<mtc::impl::RecomputeBase<RecomputePass>, RecomputeOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<RecomputeOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    if (options->recompute == "none" || (options->recompute == "auto" && options->memory == 0))
      return;
    Strategy recompute = llvm::find_if(strategies, [&](auto &entry) {
                           return entry.first == options->recompute;
                         })->second;
    MemoryAnalysis analysis(getOperation());
    if (failed(analysis.getPlan()))
      return signalPassFailure();
    OperationTimes times(getOperation());
    for (const FunctionMemory &function : analysis.getFunctions())
      if (!function.writesTransients() &&
          failed(run(recompute, {function, analysis, times, options->memory})))
        return signalPassFailure();
  }

  static LogicalResult run(Strategy recompute, const Problem &problem) {
    func::FuncOp function = problem.function.getFunction();
    const double time = problem.times.ofFunction(function);
    FailureOr<Outcome> outcome = recompute(problem);
    if (failed(outcome))
      return failure();
    if (outcome->count)
      remark::passed(function.getLoc(),
                     remark::RemarkOpts::name("recomputed").category("mtc-recompute"))
          << remark::add("{0} values of {1}, {2} % of its time", outcome->count,
                         function.getSymName(),
                         llvm::formatv("{0:f1}", 100 * outcome->time / time).str());
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createRecompute(const RecomputeOptions &options) {
  return std::make_unique<RecomputePass>(options);
}
