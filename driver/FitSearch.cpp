//===- FitSearch.cpp - Search for the fastest plan with allowed changes -----------------------===//

#include "driver/FitSearch.h"

#include "driver/Changes.h"
#include "driver/PlanText.h"
#include "driver/ProgressLine.h"
#include "driver/Report.h"
#include "ir/ReservedNames.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/cost/TransferCost.h"
#include "passes/memory/MemoryAnalysis.h"

#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// Peak memory and time of a candidate plan.
struct Needs {
  int64_t peak = 0;
  double seconds = 0; ///< Per update, including all micro-batches.

  bool isWorseThan(const Needs &other) const {
    return peak >= other.peak && seconds >= other.seconds &&
           (peak > other.peak || seconds > other.seconds);
  }
};

/// A candidate program and its plan.
struct Planned {
  Options options;
  size_t changes;    ///< Number of changes.
  std::string flags; ///< Flags of the changes.
  Needs needs;
  bool isTooMuch; ///< The variables alone exceed the budget; `needs` only covers them.
  std::unique_ptr<Compilation> allocated = nullptr; ///< Null if not worth keeping.
  std::vector<Message> messages = {};               ///< Messages emitted after the import.
};

class FitSearch {
public:
  explicit FitSearch(const Options &given)
      : given(given), plain(given), progress("searching for a plan within --memory") {
    plain.remarks.clear();
    plain.irFolder.clear();
    plain.reproducer.clear();
    plain.leastIfMissed = false;
  }

  LogicalResult run() {
    imported = std::make_unique<Compilation>(plain);
    Compilation &compilation = *imported;
    if (failed(compilation.import()))
      return failure();
    std::vector<Change> changes = findChanges(plain, compilation);
    llvm::erase_if(changes, [&](const Change &change) { return !isAllowed(change); });
    // Larger combinations first: they are often faster and need less memory even without a budget.
    std::vector<unsigned> subsets(1U << changes.size());
    std::iota(subsets.begin(), subsets.end(), 0U);
    llvm::sort(subsets, [](unsigned a, unsigned b) {
      return std::pair(llvm::popcount(b), a) < std::pair(llvm::popcount(a), b);
    });
    for (auto [number, subset] : llvm::enumerate(subsets)) {
      progress.update(number, subsets.size());
      std::vector<Change> taken;
      for (auto [i, change] : llvm::enumerate(changes))
        if (subset >> i & 1)
          taken.push_back(change);
      if (tryOut(taken) == Outcome::Exceeds)
        tryParts(taken, compilation);
    }
    return success();
  }

  /// Returns the fastest candidate that meets the budget, or the one with the lowest peak; nothing
  /// if no candidate could be planned.
  std::optional<Planned> takeBest() { return std::move(best); }

private:
  bool isAllowed(const Change &change) const {
    return !change.name.empty() && llvm::is_contained(given.allow, change.name);
  }

  bool fits(const Planned &planned) const { return planned.needs.peak <= *given.memory; }

  /// Ties prefer fewer changes.
  bool isBetter(const Planned &a, const Planned &b) const {
    if (fits(a) != fits(b))
      return fits(a);
    if (a.isTooMuch != b.isTooMuch)
      return b.isTooMuch;
    auto rank = [&](const Planned &planned) {
      const double first =
          fits(a) ? planned.needs.seconds : static_cast<double>(planned.needs.peak);
      return std::pair(first, planned.changes);
    };
    return rank(a) < rank(b);
  }

  enum class Outcome { Fits, Exceeds, Hopeless };

  /// Plans the program with the given changes. The result is `Hopeless` if no further changes need
  /// to be tried in combination with them.
  Outcome tryOut(ArrayRef<Change> changes) {
    std::optional<Planned> found = plan(changes);
    if (!found)
      return Outcome::Hopeless;
    const Outcome outcome = fits(*found)       ? Outcome::Fits
                            : found->isTooMuch ? Outcome::Hopeless
                                               : Outcome::Exceeds;
    if (!best || isBetter(*found, *best))
      best = std::move(found);
    return outcome;
  }

  /// Searches the number of micro-batches: fewer are faster, more need less memory.
  void tryParts(ArrayRef<Change> changes, Compilation &compilation) {
    if (!llvm::is_contained(given.allow, "accumulate"))
      return;
    std::vector<Change> parts;
    for (int64_t count = 2;
         std::optional<Change> found = findAccumulation(given, compilation, count); count *= 2)
      parts.push_back(*found);
    auto tryWith = [&](size_t i) {
      std::vector<Change> all(changes.begin(), changes.end());
      all.push_back(parts[i]);
      return tryOut(all) == Outcome::Fits;
    };
    if (parts.empty() || !tryWith(parts.size() - 1))
      return;
    size_t tooFew = 0, enough = parts.size() - 1; // All counts below `tooFew` exceed the budget.
    while (tooFew < enough) {
      const size_t middle = (tooFew + enough) / 2;
      if (tryWith(middle))
        enough = middle;
      else
        tooFew = middle + 1;
    }
  }

  /// Imports the model again only if a dimension changes, since sizes are folded into the graph.
  /// All other changes apply after the import.
  std::unique_ptr<Compilation> import(const Options &options) {
    if (imported->isImportedGraph() && options.dims == plain.dims)
      return imported->startAgain(options);
    auto compilation = std::make_unique<Compilation>(options);
    return succeeded(compilation->import()) ? std::move(compilation) : nullptr;
  }

  /// Returns nothing if the program cannot be planned, or if the candidate cannot beat a known one.
  std::optional<Planned> plan(ArrayRef<Change> changes) {
    Planned planned{plain, changes.size(), "", {}, false};
    for (const Change &change : changes) {
      change.apply(planned.options);
      planned.flags += (planned.flags.empty() ? "" : " ") + change.flags;
    }
    HeldMessages ofImport;
    std::unique_ptr<Compilation> compilation = import(planned.options);
    if (!compilation)
      return std::nullopt;
    HeldMessages held;
    for (Stage stage : {Stage::Training, Stage::Kernels}) {
      if (failed(compilation->lower(stage)))
        return std::nullopt;
      planned.needs.peak = findLeast(compilation->getModule(), stage);
      planned.isTooMuch =
          !fits(planned) && !usesOf(compilation->getModule(), planned.options).mayMoveVariables();
      if (planned.isTooMuch)
        return planned;
    }
    if (isDominated(compilation->getModule(), planned.options) ||
        failed(compilation->lower(Stage::Allocated)))
      return std::nullopt;
    ModuleOp module = compilation->getModule();
    StepCost cost(module);
    planned.needs = {MemoryPlan::ofAllocated(module).peak,
                     secondsOf(module, planned.options, cost) +
                         estimateTransfers(module, cost).exposed};
    planned.allocated = std::move(compilation);
    planned.messages = held.get().vec();
    return planned;
  }

  static OffloadUses usesOf(ModuleOp module, const Options &options) {
    return options.offload.getUses(TargetInfo::of(module).getOffloadSpace());
  }

  /// Returns the time of an update, excluding transfers.
  static double secondsOf(ModuleOp module, const Options &options, StepCost &cost) {
    return static_cast<double>(options.training.loss.microSteps) *
               cost.ofFunction(microStepName).seconds() +
           cost.ofFunction(updateName).seconds();
  }

  /// Returns the bytes of the variables, a lower bound on the peak. Before the kernel stage,
  /// gradients do not count, since they may be fused away; accumulation over micro-batches only
  /// adds bytes.
  static int64_t findLeast(ModuleOp module, Stage stage) {
    FailureOr<VariableLayout> variables = VariableLayout::compute(module, /*gap=*/0);
    int64_t bytes = 0;
    if (succeeded(variables))
      for (const VariableLayout::Entry &entry : variables->getEntries())
        if (entry.offset && entry.space == MemorySpace::Device &&
            (stage == Stage::Kernels || VariableOp(entry.variable).getRole() != Role::Gradient))
          bytes += entry.bytes;
    return bytes;
  }

  /// Whether an earlier candidate was faster and needed less memory without a budget. The same
  /// techniques would have to save more on this one.
  bool isDominated(ModuleOp kernels, const Options &options) {
    if (!usesOf(kernels, options).isOff())
      return false;
    MemoryAnalysis analysis(kernels);
    FailureOr<MemoryPlan> plan = analysis.getPlan();
    if (failed(plan))
      return false;
    StepCost cost(kernels);
    const Needs needs{plan->live, secondsOf(kernels, options, cost)};
    if (llvm::any_of(whole, [&](const Needs &known) { return needs.isWorseThan(known); }))
      return true;
    whole.push_back(needs);
    return false;
  }

  const Options &given;
  Options plain;                         ///< Without outputs that only the final run writes.
  ProgressLine progress;                 ///< Parts are combinations of changes.
  std::unique_ptr<Compilation> imported; ///< Compilation with the options `plain`.
  std::vector<Needs> whole;              ///< Earlier candidates without a budget.
  std::optional<Planned> best;
};

} // namespace

/// Whether the run only needs the allocated program.
static bool needsAllocatedAlone(const Options &options) {
  return options.stage == Stage::Allocated && options.remarks.empty() && options.irFolder.empty() &&
         options.reproducer.empty() && !options.techniques && !options.curve;
}

std::unique_ptr<Compilation> mtc::tool::chooseAllowed(Options &options) {
  auto asGiven = std::make_unique<Compilation>(options);
  if (!options.memory || options.allow.empty())
    return asGiven;
  FitSearch search(options);
  if (failed(search.run()))
    return nullptr;
  std::optional<Planned> best = search.takeBest();
  if (!best)
    return asGiven; // The run itself reports the problem.
  const bool fits = best->needs.peak <= *options.memory;
  if (best->flags.empty()) {
    if (!fits)
      return asGiven;
  } else if (fits) {
    note(llvm::formatv("--memory: selected {0}: {1}, about {2} per update", best->flags,
                       formatBytes(best->needs.peak), formatSeconds(best->needs.seconds)));
  } else {
    note(llvm::formatv("--memory: no allowed change meets the budget; continuing with {0}",
                       best->flags));
  }
  Options chosen = best->options;
  chosen.remarks = options.remarks;
  chosen.irFolder = options.irFolder;
  chosen.reproducer = options.reproducer;
  chosen.leastIfMissed = true;
  options = std::move(chosen);
  if (!fits || !needsAllocatedAlone(options))
    return std::make_unique<Compilation>(options);
  for (const Message &message : best->messages)
    say(message);
  return std::move(best->allocated);
}
