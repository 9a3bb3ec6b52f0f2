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

  OrderScore score() const { return OrderModel(function).scoreAsItIs(); }
};

/// What was computed again, and the seconds that are added.
struct Outcome {
  size_t count = 0;
  double time = 0;
};

/// The segments between checkpoints, computed again.
class Segments {
public:
  explicit Segments(const Problem &problem)
      : problem(problem), checkpoints(findCheckpoints(problem.function.getFunction())),
        values(problem.function.getFunction().front(), problem.analysis) {}

  LogicalResult recompute() {
    for (OpResult value : checkpoints.kept)
      values.keep(value);
    for (OpResult value : checkpoints.recomputed)
      if (std::optional<Rematerializer::Added> added = values.evict(
              value, checkpoints.forwardEnd, Rematerializer::DeadOperands::ComputeAgain)) {
        problem.times.add(*added);
        ++outcome.count;
        outcome.time += problem.times.of(*added);
      }
    return problem.analysis.getPlan();
  }

  LogicalResult undo() {
    values.undoTo(0);
    outcome = {};
    return problem.analysis.getPlan();
  }

  Outcome getOutcome() const { return outcome; }

private:
  const Problem &problem;
  Checkpoints checkpoints;
  Rematerializer values;
  Outcome outcome;
};

/// Where that lowers the peak.
FailureOr<Outcome> recomputeSegments(const Problem &problem) {
  const OrderScore before = problem.score();
  Segments segments(problem);
  if (failed(segments.recompute()))
    return failure();
  if (!(problem.score() < before) && failed(segments.undo()))
    return failure();
  return segments.getOutcome();
}

/// The cheapest values or, where these do not suffice, segments first: then the ladder need not
/// compute one layer after the other from the first one on. What needs less is taken.
FailureOr<Outcome> recomputeToFit(const Problem &problem) {
  Ladder ladder(problem.function, problem.analysis, problem.times, problem.budget);
  if (failed(ladder.climb()))
    return failure();
  const Outcome cheapest{ladder.getCount(), ladder.getTime()};
  if (ladder.isReached() || findCheckpoints(problem.function.getFunction()).recomputed.empty())
    return cheapest;
  const OrderScore least = problem.score();
  if (failed(ladder.undo()))
    return failure();
  Segments segments(problem);
  if (failed(segments.recompute()))
    return failure();
  Ladder further(problem.function, problem.analysis, problem.times, problem.budget);
  if (failed(further.climb()))
    return failure();
  if (further.isReached() || problem.score() < least)
    return Outcome{segments.getOutcome().count + further.getCount(),
                   segments.getOutcome().time + further.getTime()};
  if (failed(further.undo()) || failed(segments.undo()) || failed(ladder.climb()))
    return failure();
  return cheapest;
}

FailureOr<Outcome> recomputeAll(const Problem &problem) {
  return recomputeToFit({problem.function, problem.analysis, problem.times, /*budget=*/0});
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
      if (!function.isAside() &&
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
