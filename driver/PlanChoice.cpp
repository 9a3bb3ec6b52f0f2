//===- PlanChoice.cpp - Choice of a plan for a compilation ------------------------------------===//

#include "driver/PlanChoice.h"

#include "driver/PlanText.h"
#include "driver/ProgressLine.h"
#include "driver/Report.h"
#include "driver/StageText.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/planning/PlanSearch.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// The imported model of a compilation.
class CompilationSource final : public PlanSource {
public:
  explicit CompilationSource(Compilation &compilation) : compilation(compilation) {}

  MLIRContext &getContext() override { return compilation.getContext(); }
  PlanContext getPlanContext() override {
    return {compilation.getBatch(), TargetInfo::of(compilation.getModule()).getOffloadSpace()};
  }
  Stage getFirstStage() override { return compilation.getFirstStage(); }
  FailureOr<OwningOpRef<ModuleOp>> import(const PlanSettings &settings) override {
    return compilation.importAgain(settings);
  }
  LogicalResult lower(ModuleOp module, Stage stage, const PlanSettings &settings) override {
    return compilation.lowerAgain(module, stage, settings);
  }

private:
  Compilation &compilation;
};

/// A planner that shows its progress.
class ShownPlanner {
public:
  ShownPlanner(std::string what, Compilation &compilation, const Options &options)
      : line(std::move(what)), source(compilation),
        planner(source, options.plan, [this](size_t done, size_t all) { line.update(done, all); }) {
  }

  operator Planner &() { return planner; }

private:
  ProgressLine line;
  CompilationSource source;
  Planner planner;
};

} // namespace

/// Returns whether the run only needs the allocated program.
static bool needsAllocatedAlone(const Options &options) {
  return options.stage == Stage::Allocated && options.remarks.empty() && options.irFolder.empty() &&
         options.reproducer.empty();
}

/// Returns whether the plan may depend on choices before allocation.
static bool hasChoices(const Options &options) {
  const PlanContext context{nullptr, options.getOffloadSpace()};
  return !options.allow.empty() || options.fitsBatch ||
         llvm::any_of(getTechniques(), [&](const Technique &technique) {
           return technique.isUndone && !technique.propose(options.plan, context).empty();
         });
}

std::unique_ptr<Compilation> mtc::tool::choosePlan(Options &options) {
  if (!options.plan.fit.memory || !hasChoices(options))
    return std::make_unique<Compilation>(options);
  Options plain = options; // Without outputs that only the final run writes.
  plain.remarks.clear();
  plain.irFolder.clear();
  plain.reproducer.clear();
  plain.plan.fit.minimizeIfMissed = false;
  auto compilation = std::make_unique<Compilation>(plain);
  if (failed(compilation->import()))
    return nullptr;
  const StringRef flag = options.fitsBatch ? "--fit-batch" : "--memory";
  if (options.fitsBatch && !compilation->getBatch()) {
    emitError(UnknownLoc::get(&compilation->getContext()),
              "--fit-batch: no input of the model has a symbolic batch dimension; export the model "
              "with a dynamic batch axis");
    return nullptr;
  }
  ShownPlanner planner("searching for a plan within --memory", *compilation, plain);
  std::optional<Plan> found = options.fitsBatch ? PlanQueries(planner).findLargestBatch()
                                                : PlanSearch(planner, plain.allow).findFastest();
  if (!found)
    return std::make_unique<Compilation>(options); // The run itself reports the problem.
  const bool fits = found->fits(*options.plan.fit.memory);
  if (!found->request.flags.empty() && fits)
    note(llvm::formatv("{0}: selected {1} ({2}): {3}, about {4} per update", flag,
                       found->request.flags, describeEffect(found->request.effect),
                       formatBytes(found->cost.peak), formatSeconds(found->cost.seconds)));
  else if (!found->request.flags.empty())
    note(llvm::formatv(
        "--memory: no plan meets the budget; continuing with {0} ({1}), which has the "
        "lowest peak{2}",
        found->request.flags, describeEffect(found->request.effect),
        options.allow.empty() ? ". --allow permits more changes" : ""));
  options.plan = found->request.settings;
  options.plan.fit.minimizeIfMissed = true;
  options.plan.fit.maxSeconds.reset();
  // Another search for the minimum peak would exceed --search-seconds.
  if ((!fits && !options.plan.fit.searchSeconds) || !found->allocated ||
      !needsAllocatedAlone(options))
    return std::make_unique<Compilation>(options);
  for (Diagnostic &message : found->messages)
    compilation->getContext().getDiagEngine().emit(std::move(message));
  if (failed(compilation->adopt(options.plan, std::move(found->allocated))))
    return nullptr;
  return compilation;
}

std::vector<CurvePoint> CompilationQueries::findCurve() {
  ShownPlanner planner("planning for several budgets", compilation, options);
  return PlanQueries(planner).findCurve();
}

std::vector<Benefit> CompilationQueries::measureBenefits() {
  ShownPlanner planner("measuring techniques", compilation, options);
  return PlanQueries(planner).measureBenefits();
}

/// Suggestions are searched for as long as the plan has taken, but at least for this time: a budget
/// that cannot be met is refused in about the time of a plan.
static constexpr double minSecondsOfSuggestions = 10;

/// Returns the user CPU time of the process.
static double getUserSeconds() {
  llvm::sys::TimePoint<> now;
  std::chrono::nanoseconds user{}, system{};
  llvm::sys::Process::GetTimeUsage(now, user, system);
  return std::chrono::duration<double>(user).count();
}

Suggestions CompilationQueries::findSuggestions(const MemoryPlan &plan) {
  // The search for a plan may have used up --search-seconds.
  if (isStageText(options.model) || !compilation.getModel() || options.plan.fit.searchSeconds)
    return {};
  Options limited = options;
  limited.plan.fit.searchSeconds = std::max(minSecondsOfSuggestions, getUserSeconds());
  ShownPlanner planner("searching for flags that meet the budget", compilation, limited);
  return PlanQueries(planner).findSuggestions(plan);
}

std::string mtc::tool::describe(const Suggestions &suggestions) {
  if (suggestions.isHopeless)
    return "no flags that lower memory can meet it: a lower bound with all of them exceeds it";
  std::string text;
  for (const Suggestion &suggestion : suggestions.known)
    text += llvm::formatv("{0}{1} with {2} ({3})", text.empty() ? "lower peaks: " : ", ",
                          formatBytes(suggestion.peak), suggestion.flags,
                          describeEffect(suggestion.effect));
  return text;
}

llvm::json::Array mtc::tool::toJson(ArrayRef<Suggestion> suggestions) {
  llvm::json::Array array;
  for (const Suggestion &suggestion : suggestions)
    array.push_back(llvm::json::Object{{"flags", suggestion.flags},
                                       {"results", describeEffect(suggestion.effect)},
                                       {"peak_bytes", suggestion.peak}});
  return array;
}
