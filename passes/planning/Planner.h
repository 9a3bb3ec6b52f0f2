//===- Planner.h - Answers to questions about memory plans ------------------------------------===//

#ifndef MTC_PASSES_PLANNING_PLANNER_H
#define MTC_PASSES_PLANNING_PLANNER_H

#include "passes/cost/StepCost.h"
#include "passes/planning/PlanSource.h"

#include "mlir/IR/Diagnostics.h"

#include <atomic>
#include <chrono>
#include <map>

namespace mtc {

struct MemoryPlan;

/// Peak memory and estimated cost of an update, which includes all micro-batches and the part of
/// transfers that computation does not hide.
struct PlanNeeds {
  int64_t peak = 0;
  double seconds = 0;
  int64_t flops = 0;

  bool operator==(const PlanNeeds &) const = default;
};

/// A plan that a question led to.
struct Plan {
  PlanSettings settings;
  std::string flags; ///< Flags of the changes; "" if there are none.
  Effect effect = Effect::None;
  PlanNeeds needs;
  /// Whether the variables alone exceed the budget; `needs.peak` then only covers them.
  bool isTooMuch = false;
  mlir::OwningOpRef<mlir::ModuleOp> allocated; ///< Null if `isTooMuch`.
  std::vector<mlir::Diagnostic> messages;      ///< Those of the passes.
};

/// The effect of a technique or an optional pass: the plan without it less the plan with it, all
/// other settings equal.
struct Worth {
  std::string name; ///< Technique, or argument of --skip-pass.
  int64_t savesBytes;
  int64_t costsFlops; ///< Per update; negative if it reduces them.
  double costsSeconds;
};

/// A plan for one budget.
struct CurvePoint {
  int64_t peak;
  double seconds;
};

/// Flags that lower the peak memory of a program, and the peak with these flags.
struct Remedy {
  std::string flags;
  Effect effect;
  int64_t peak;
};

/// Flags that may help a program which exceeds the budget.
struct Remedies {
  std::vector<Remedy> known;
  /// Whether no flags of techniques can meet the budget: a lower bound exceeds it, and no remedy
  /// was searched for.
  bool isHopeless = false;
};

/// Called with the number of finished and of all known parts of a question.
using PlanProgress = std::function<void(size_t done, size_t all)>;

/// Answers questions about the plans of one model. Lowered modules are kept, so that plans whose
/// settings first differ at a later stage share the stages before. A question takes the answers
/// known when the time is up.
class Planner {
public:
  /// `allowed` are the techniques of --allow. `given.fit.searchSeconds` limits each question.
  Planner(PlanSource &source, PlanSettings given, llvm::ArrayRef<std::string> allowed,
          PlanProgress progress = {});
  Planner(const Planner &) = delete;
  Planner &operator=(const Planner &) = delete;
  ~Planner();

  /// Returns the fastest plan within the budget of the settings among the combinations of permitted
  /// changes, or the one with the lowest peak; nothing if no combination can be planned. Ties
  /// prefer fewer changes.
  std::optional<Plan> findFastest();
  /// Returns the plan of the largest batch, to 1/32 of it, that fits the budget of the settings, or
  /// nothing if not even one sample fits. The model must have a batch dimension.
  std::optional<Plan> findLargestBatch();
  /// Returns plans for budgets between the minimum peak and the peak without a budget, evenly
  /// spaced, by decreasing peak and without plans that another one dominates.
  std::vector<CurvePoint> findCurve();
  /// Measures the techniques that the settings use, and the optional passes. Those that change
  /// neither the peak nor the time are omitted. Passes are measured without a budget and without
  /// recomputation.
  std::vector<Worth> measureTechniques();
  /// Returns the changes that the user has not made and whose plans for the budget need less than
  /// the peak of `plan`, those that change results least first, then, if none of them meets the
  /// budget, all of them together. A change that meets the budget excludes those that cannot meet
  /// it by the lower bound of `plan`.
  Remedies findRemedies(const MemoryPlan &plan);

  /// The chosen change of each technique: an index of its changes, or none.
  struct Choice {
    std::vector<std::optional<size_t>> picks;
  };

private:
  /// A lowered module, with the messages of the passes that led to it.
  struct Lowered {
    mlir::OwningOpRef<mlir::ModuleOp> module; ///< Null if the lowering failed.
    std::vector<mlir::Diagnostic> messages;
  };
  /// Settings to lower the model with, and the last stage of interest.
  struct Lowering {
    PlanSettings settings;
    Stage last;
  };
  /// A combination with a lower bound on the time of an update.
  struct Bounded {
    Choice choice;
    size_t number; ///< Of the combination.
    int64_t changes;
    double least;                   ///< Without kernels, until `needs` is known.
    std::optional<PlanNeeds> needs; ///< Without a budget.
    bool isPossible = true;         ///< Whether there is a plan.

    double getSeconds() const { return needs ? needs->seconds : least; }
  };

  /// Settings of a combination within a budget.
  struct Candidate {
    PlanSettings settings;
    std::string flags = {}; ///< Flags of the changes.
    Effect effect = Effect::None;
  };
  /// The plan of a candidate that may be tried out next.
  struct Ahead {
    std::string flags;
    std::optional<double> maxSeconds;
    std::optional<Plan> plan;
  };

  Choice saving() const;
  void undoSavings();
  std::optional<Plan> planUnchanged();
  Choice none() const { return {std::vector<std::optional<size_t>>(changes.size())}; }
  using Changes = std::vector<std::vector<PlanChange>>; ///< For each technique.
  PlanSettings settingsOf(const Choice &choice, const Changes &changes) const;
  PlanSettings settingsOf(const Choice &choice) const { return settingsOf(choice, changes); }
  Lowered &lowerTo(Stage stage, const PlanSettings &settings);
  void lowerAll(llvm::ArrayRef<Lowering> lowerings);
  Stage findReached(const PlanSettings &settings) const;
  void lowerShared(llvm::ArrayRef<Candidate> candidates);
  Candidate candidateOf(const Choice &choice, std::optional<int64_t> budget,
                        const Changes &changes) const;
  Candidate candidateOf(const Choice &choice, std::optional<int64_t> budget) const {
    return candidateOf(choice, budget, changes);
  }
  std::vector<std::optional<Plan>> planEach(llvm::ArrayRef<Candidate> candidates);
  std::optional<Plan> plan(const Choice &choice, std::optional<int64_t> budget) {
    return std::move(planEach(candidateOf(choice, budget)).front());
  }
  std::vector<std::optional<PlanNeeds>> planAll(llvm::ArrayRef<PlanSettings> all);
  llvm::SmallVector<std::optional<PlanNeeds>, 0> boundEach(llvm::ArrayRef<Choice> choices);
  std::optional<PlanNeeds> bound(const Choice &choice) { return boundEach(choice).front(); }
  std::optional<double> getSecondsOfCalls(const Choice &choice);
  std::vector<Choice> findCombinations() const;
  std::optional<size_t> findCounted() const;
  Choice withCount(Choice choice, size_t technique, size_t count) const {
    choice.picks[technique] = count ? std::optional(count - 1) : std::nullopt;
    return choice;
  }
  size_t findFirstCount(const Choice &choice, size_t technique);
  std::vector<Candidate> guessNext();
  std::optional<PlanNeeds> tryOut(const Choice &choice,
                                  std::optional<double> maxSeconds = std::nullopt);
  std::optional<PlanNeeds> compare(const Choice &choice, std::optional<Plan> found);
  /// Returns the combination whose cost bounds that of a combination within the budget.
  using CountedAs = llvm::function_ref<Choice(const Choice &)>;
  std::vector<Bounded> boundByCalls(llvm::ArrayRef<Choice> combinations, CountedAs countedAs);
  std::optional<Bounded> takeNext(CountedAs countedAs);
  std::optional<PlanChange> findOpened(size_t technique, const Choice &choice);
  void tryCounts(const Choice &choice, size_t technique, size_t least);
  void addOpened();
  bool paysLittle(const Choice &choice);
  bool bestFits() const {
    return best && !best->isTooMuch && best->needs.peak <= *given.fit.memory;
  }
  bool isBetter(const Plan &a, const Plan &b) const;
  bool isPermitted(const Technique &kind) const;
  void addMessages(Plan &plan);
  bool isTimeUp() const { return std::chrono::steady_clock::now() > deadline; }
  std::optional<double> getSecondsLeft() const;
  void start(size_t parts);
  void finishPart();

  PlanSource &source;
  PlanSettings given;
  std::vector<std::string> allowed;
  PlanProgress progress;
  std::atomic<size_t> done = 0;
  size_t parts = 0;
  std::chrono::steady_clock::time_point deadline;
  Changes changes;
  std::map<std::pair<Stage, std::string>, Lowered> lowered;
  std::map<std::string, std::optional<PlanNeeds>> bounds; ///< By the key of the kernels.
  std::vector<Bounded> open; ///< Combinations that are not planned yet.
  std::vector<Ahead> ahead;
  std::optional<Plan> best;
  Choice bestChoice; ///< That of `best`.
};

/// Returns the index of the knee, after which further memory savings become disproportionately
/// expensive: the point farthest below the line between the first and last points (Satopää et al.,
/// "Finding a 'Kneedle' in a Haystack", 2011). Returns nothing if there are fewer than three
/// points, or if none is below the line.
std::optional<size_t> findKnee(llvm::ArrayRef<CurvePoint> curve);

} // namespace mtc

#endif // MTC_PASSES_PLANNING_PLANNER_H
