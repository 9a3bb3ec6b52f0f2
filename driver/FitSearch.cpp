//===- FitSearch.cpp - The fastest program that fits ------------------------------------------===//

#include "driver/FitSearch.h"

#include "driver/Changes.h"
#include "driver/PlanText.h"
#include "driver/Report.h"
#include "ir/ReservedNames.h"
#include "passes/cost/TransferCost.h"
#include "passes/memory/MemoryAnalysis.h"

#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// A program as it was planned.
struct Planned {
  Options options;
  std::string flags; ///< That it was changed by.
  int64_t peak;
  double seconds; ///< Of an update, all its batches included.
};

class FitSearch {
public:
  explicit FitSearch(const Options &given) : given(given), plain(given) {
    plain.remarks.clear();
    plain.irFolder.clear();
    plain.reproducer.clear();
  }

  LogicalResult run() {
    Compilation compilation(plain);
    if (failed(compilation.import()))
      return failure();
    std::vector<Change> changes = findChanges(plain, compilation);
    llvm::erase_if(changes, [&](const Change &change) { return !isAllowed(change); });
    if (given.offload.isAutomatic())
      llvm::append_range(changes, findOffloads());
    // Fewer changes first.
    std::vector<unsigned> subsets(1U << changes.size());
    std::iota(subsets.begin(), subsets.end(), 0U);
    llvm::sort(subsets, [](unsigned a, unsigned b) {
      return std::pair(llvm::popcount(a), a) < std::pair(llvm::popcount(b), b);
    });
    for (unsigned subset : subsets) {
      std::vector<Change> taken;
      for (auto [i, change] : llvm::enumerate(changes))
        if (subset >> i & 1)
          taken.push_back(change);
      if (!tryOut(taken))
        tryParts(taken, compilation);
    }
    return success();
  }

  /// The fastest that fits, or what needs the least; none where nothing could be planned.
  const std::optional<Planned> &getBest() const { return best; }

private:
  bool isAllowed(const Change &change) const {
    return !change.name.empty() && llvm::is_contained(given.allow, change.name);
  }

  bool fits(const Planned &planned) const { return planned.peak <= *given.memory; }

  bool isBetter(const Planned &a, const Planned &b) const {
    if (fits(a) != fits(b))
      return fits(a);
    return fits(a) ? a.seconds < b.seconds : a.peak < b.peak;
  }

  /// Whether the program fits with some changes.
  bool tryOut(ArrayRef<Change> changes) {
    std::optional<Planned> found = plan(changes);
    if (!found)
      return false;
    const bool isFit = fits(*found);
    if (!best || isBetter(*found, *best))
      best = std::move(found);
    return isFit;
  }

  /// Fewer parts of the batch take less time; more take less memory.
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
      return tryOut(all);
    };
    if (parts.empty() || !tryWith(parts.size() - 1))
      return;
    size_t tooFew = 0, enough = parts.size() - 1; // Those below `tooFew` do not fit.
    while (tooFew < enough) {
      const size_t middle = (tooFew + enough) / 2;
      if (tryWith(middle))
        enough = middle;
      else
        tooFew = middle + 1;
    }
  }

  /// What may leave memory from the start. Without any of them the passes move what is left above
  /// the budget when all else was done.
  static std::vector<Change> findOffloads() {
    std::vector<Change> changes;
    for (StringRef what : {"optimizer", "activations", "parameters"})
      changes.push_back({"", ("--offload " + what).str(), [what](Options &all) {
                           llvm::erase(all.offload.offload, "auto");
                           all.offload.offload.push_back(what.str());
                         }});
    return changes;
  }

  std::optional<Planned> plan(ArrayRef<Change> changes) const {
    Planned planned{plain, "", 0, 0};
    for (const Change &change : changes) {
      change.apply(planned.options);
      planned.flags += (planned.flags.empty() ? "" : " ") + change.flags;
    }
    MutedMessages muted;
    Compilation compilation(planned.options);
    if (failed(compilation.import()) || failed(compilation.lower(Stage::Kernels)))
      return std::nullopt;
    if (isHopeless(compilation.getModule(), planned))
      return planned;
    if (failed(compilation.lower(Stage::Placed)))
      return std::nullopt;
    planned.peak = MemoryPlan::ofPlaced(compilation.getModule()).peak;
    StepCost cost(compilation.getModule());
    planned.seconds = static_cast<double>(planned.options.training.loss.microSteps) *
                          cost.ofFunction(microStepName).seconds() +
                      cost.ofFunction(updateName).seconds() +
                      estimateTransfers(compilation.getModule(), cost).exposed;
    return planned;
  }

  /// Whether variables and inputs alone take too much, so that nothing else need be tried.
  bool isHopeless(ModuleOp module, Planned &planned) const {
    if (!planned.options.offload.takesNothing())
      return false;
    MemoryAnalysis analysis(module);
    FailureOr<MemoryPlan> plan = analysis.getPlan();
    if (failed(plan) || analysis.getFixedBytes() <= *given.memory)
      return false;
    planned.peak = plan->live;
    return true;
  }

  const Options &given;
  Options plain; ///< Without what is written once, by the run itself.
  std::optional<Planned> best;
};

} // namespace

LogicalResult mtc::tool::chooseAllowed(Options &options) {
  if (!options.memory || (options.allow.empty() && !options.offload.isAutomatic()))
    return success();
  FitSearch search(options);
  if (failed(search.run()))
    return failure();
  const std::optional<Planned> &best = search.getBest();
  if (!best || best->flags.empty())
    return success(); // The run itself says what is wrong, or goes on as it was told.
  if (best->peak <= *options.memory)
    note(llvm::formatv("--memory: chosen {0}: {1}, about {2} an update", best->flags,
                       formatBytes(best->peak), formatSeconds(best->seconds)));
  else
    note(llvm::formatv(
        "--memory: nothing that may be changed suffices; the least is needed with {0}",
        best->flags));
  Options chosen = best->options;
  chosen.remarks = options.remarks;
  chosen.irFolder = options.irFolder;
  chosen.reproducer = options.reproducer;
  options = std::move(chosen);
  return success();
}
