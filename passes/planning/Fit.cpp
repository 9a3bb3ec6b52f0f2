//===- Fit.cpp - Search for a plan within the memory budget -----------------------------------===//

#include "passes/planning/Fit.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/OptionTable.h"
#include "passes/Passes.h"
#include "passes/offload/VariableOffload.h"
#include "passes/planning/Technique.h"
#include "passes/search/Search.h"

#include <numeric>

namespace mtc {
#define GEN_PASS_DEF_FIT
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

/// The distance between a budget and the current peak.
enum class Distance { Near, Far, Hopeless };

/// Returns Hopeless if the budget is below a lower bound on the peak, and Far if most searches end
/// above the budget. With `isFarOpen`, the lower bound includes only the memory that all functions
/// share, and Far counts as Near, which takes less time to find.
static FailureOr<Distance> distanceOf(ModuleOp module, int64_t budget, bool mayMoveVariables,
                                      bool isFarOpen) {
  MemoryAnalysis analysis(module);
  FailureOr<int64_t> shared = analysis.findFixedBytes();
  if (failed(shared))
    return failure();
  const int64_t fixed = mayMoveVariables ? 0 : *shared;
  if (budget < fixed)
    return Distance::Hopeless;
  if (isFarOpen)
    return Distance::Near;
  if (failed(analysis.update()))
    return failure();
  constexpr int64_t maxFreed = 8;
  const int64_t live = analysis.getLiveBytes();
  if (live > budget && !mayMoveVariables && analysis.findFloor() > budget)
    return Distance::Hopeless;
  return (budget - fixed) * maxFreed < live - fixed ? Distance::Far : Distance::Near;
}

/// Returns the starts of a search that explicit flags would have: the variables of each combination
/// of automatic kinds are offloaded first, as many as the budget requires. Without a budget, all
/// are offloaded. The other techniques change the functions step by step, and the effort for large
/// functions may end before variables are offloaded.
static std::vector<SearchStart> offloadStarts(ModuleOp module, const OffloadOptions &options,
                                              const OffloadUses &uses, int64_t budget) {
  SmallVector<std::pair<OffloadKind, int64_t>> kinds; // with the bytes of their variables
  for (OffloadKind kind : offloadKinds) {
    if (kind == OffloadKind::Activations || uses[kind] != OffloadUse::Automatic)
      continue;
    std::vector<VariableGroup> groups =
        kind == OffloadKind::Update
            ? collectUpdateGroups(module)
            : collectGroups(module, [&](OffloadKind other) { return other == kind; });
    if (!groups.empty())
      kinds.emplace_back(kind, std::accumulate(groups.begin(), groups.end(), int64_t(0),
                                               [](int64_t sum, const VariableGroup &group) {
                                                 return sum + group.bytes;
                                               }));
  }
  std::vector<SearchStart> starts;
  const unsigned all = (1U << kinds.size()) - 1;
  for (unsigned chosen = budget == 0 ? all : 1; chosen != 0 && chosen <= all; ++chosen) {
    SearchStart start = {};
    OffloadUses asked;
    for (auto [i, each] : llvm::enumerate(kinds))
      if (auto [kind, bytes] = each; chosen >> i & 1) {
        start.maxFreed += bytes;
        asked[kind] = OffloadUse::On;
        start.techniques.push_back(
            findTechnique(("offload-" + OffloadOptions::nameOf(kind)).str())->name);
      }
    start.apply = [=](ModuleOp copy) -> FailureOr<std::function<void()>> {
      FailureOr<OffloadedVariables> moved =
          offloadVariables(copy, {options, budget}, asked, /*isReported=*/false);
      if (failed(moved))
        return failure();
      if (moved->count == 0)
        return std::function<void()>();
      return std::function<void()>(
          [copy, moved] { reportOffloaded(copy, moved->count, moved->bytes); });
    };
    starts.push_back(std::move(start));
  }
  return starts;
}

namespace {

struct FitPass : PassWithOptions<mtc::impl::FitBase<FitPass>, FitOptions> {
  using PassWithOptions::PassWithOptions;

  void runOnOperation() override {
    FailureOr<FitOptions> options = readOptions();
    if (failed(options))
      return signalPassFailure();
    if (!options->memory)
      return;
    const int64_t budget = *options->memory;
    ModuleOp module = getOperation();
    const OffloadUses uses = options->offload.getUses(TargetInfo::of(module).getOffloadSpace());
    auto make = [&](const FunctionBudget &own, OperationTimes &times) {
      PeakReducers reducers;
      for (const Technique &technique : getTechniques())
        if (technique.make)
          if (std::unique_ptr<PeakReducer> made = technique.make(own, times, *options)) {
            made->setName(technique.name);
            reducers.push_back(std::move(made));
          }
      return reducers;
    };
    FailureOr<Distance> distance = distanceOf(module, budget, uses.mayMoveVariables(),
                                              /*isFarOpen=*/!options->minimizeIfMissed);
    if (failed(distance))
      return signalPassFailure();
    module->removeAttr(techniquesAttribute);
    const double maxSeconds = options->maxSeconds.value_or(std::numeric_limits<double>::infinity());
    const Deadline deadline = deadlineIn(options->searchSeconds);
    FailureOr<FittedModule> fitted = FittedModule();
    auto search = [&](int64_t bytes) {
      fitted = searchFit(module, bytes, make, maxSeconds, deadline,
                         offloadStarts(module, options->offload, uses, bytes));
      return succeeded(fitted) && fitted->peak > budget;
    };
    // If the budget is missed, even slightly, the plan with the smallest known peak is used. This
    // peak does not depend on the budget, so that a program fits a budget that an earlier run
    // reported as required.
    const bool isLeastFirst = options->minimizeIfMissed && *distance != Distance::Near;
    bool isMissed = isLeastFirst && search(/*bytes=*/0);
    if (!isMissed && succeeded(fitted) && *distance != Distance::Hopeless) {
      isMissed = search(budget);
      // Fragmentation of the arena is known only after all functions have changed. If it exceeds
      // the budget slightly, the search is repeated with a smaller budget.
      auto isTimeUp = [&] { return std::chrono::steady_clock::now() >= deadline; };
      if (isMissed && fitted->peak - budget <= budget / 64 && !isTimeUp())
        isMissed = search(budget - 4 * (fitted->peak - budget));
      if (isMissed && options->minimizeIfMissed && !isTimeUp())
        search(/*bytes=*/0);
    }
    if (failed(fitted))
      return signalPassFailure();
    if (fitted->seconds >= maxSeconds) {
      Builder builder(&getContext());
      module->setAttr(tooSlowAttribute,
                      builder.getArrayAttr({builder.getI64IntegerAttr(fitted->peak),
                                            builder.getF64FloatAttr(fitted->seconds)}));
      module.emitError("an update takes ")
          << spellNumber(fitted->seconds) << " s with " << fitted->peak
          << " bytes; expected at most " << spellNumber(maxSeconds) << " s";
      return signalPassFailure();
    }
    fitted->applyTo(module);
    if (fitted->peak > budget && std::chrono::steady_clock::now() >= deadline)
      emitWarning(UnknownLoc::get(&getContext()))
          << "--search-seconds: the search ended after " << spellNumber(*options->searchSeconds)
          << " s, before it met --memory; with more time it may meet the budget";
  }
};

} // namespace

std::unique_ptr<Pass> mtc::createFit(const FitOptions &options) {
  return std::make_unique<FitPass>(options);
}
