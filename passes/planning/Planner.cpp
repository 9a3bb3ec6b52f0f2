//===- Planner.cpp - Lowering and comparison of plans -----------------------------------------===//

#include "passes/planning/Planner.h"

#include "ir/ReservedNames.h"
#include "passes/cost/TransferCost.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/search/FunctionBudget.h"

#include "mlir/IR/Threading.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/ThreadPool.h"

#include <set>

using namespace mlir;
using namespace mtc;

static Stage next(Stage stage) { return static_cast<Stage>(static_cast<unsigned>(stage) + 1); }
static Stage previous(Stage stage) { return static_cast<Stage>(static_cast<unsigned>(stage) - 1); }

/// Returns the settings that decide the passes up to a stage before allocation.
static std::string keyOf(Stage stage, const PlanSettings &settings) {
  std::string key;
  llvm::raw_string_ostream os(key);
  SmallVector<StringRef> names(settings.dims.keys());
  llvm::sort(names);
  for (StringRef name : names)
    os << name << '=' << settings.dims.lookup(name) << '\n';
  auto addSkipped = [&](Stage of) {
    for (const OptionalPass &pass : getOptionalPasses())
      if (pass.stage == of && settings.passes.skips(pass.name))
        os << "no " << pass.name << '\n';
  };
  if (stage >= Stage::Forward) {
    os << stringifyEnum(settings.precision) << '\n';
    addSkipped(Stage::Forward);
  }
  TrainingOptions training = settings.training;
  if (stage >= Stage::Training)
    TrainingOptions::visitOptions([&](auto access, const OptionText &text, auto...) {
      os << text.name << ' ' << spellOption(std::invoke(access, training)) << '\n';
    });
  if (stage >= Stage::Kernels)
    addSkipped(Stage::Kernels);
  return key;
}

/// Returns the time of an update, excluding transfers.
static TimedCost costOf(ModuleOp module, const PlanSettings &settings, StepCost &cost) {
  TimedCost sum = cost.ofFunction(updateName);
  const TimedCost micro = cost.ofFunction(microStepName);
  const int64_t count = settings.training.loss.microSteps;
  sum += {count * micro.picoseconds, count * micro.flops, count * micro.bytes};
  return sum;
}

/// Returns the needs of an allocated module.
static PlanNeeds needsOf(ModuleOp allocated, const PlanSettings &settings) {
  StepCost cost(allocated);
  const TimedCost update = costOf(allocated, settings, cost);
  return {MemoryPlan::ofAllocated(allocated).counted,
          update.seconds() + estimateTransfers(allocated, cost).exposed, update.flops};
}

/// Returns the bytes of the variables, a lower bound on the peak unless some are offloaded. Before
/// the kernel stage, gradients do not count, since they may be fused away.
static int64_t bytesOfVariables(ModuleOp module, Stage stage) {
  FailureOr<VariableLayout> variables = VariableLayout::compute(module, /*gap=*/0);
  int64_t bytes = 0;
  if (succeeded(variables))
    for (const VariableLayout::Entry &entry : variables->getEntries())
      if (entry.offset && entry.space == MemorySpace::Device &&
          (stage == Stage::Kernels || VariableOp(entry.variable).getRole() != Role::Gradient))
        bytes += entry.bytes;
  return bytes;
}

Planner::Planner(PlanSource &source, PlanSettings given, ArrayRef<std::string> allowed,
                 PlanProgress progress)
    : source(source), given(std::move(given)), allowed(allowed), progress(std::move(progress)) {
  for (const Technique &technique : getTechniques())
    changes.push_back(technique.propose ? technique.propose(this->given, source.getPlanContext())
                                        : std::vector<PlanChange>());
}

Planner::~Planner() {
  // Modules of large models take long to destroy.
  parallelForEach(&source.getContext(), lowered, [](auto &each) { each.second.module = nullptr; });
}

void Planner::start(size_t count) {
  done = 0;
  parts = count;
  deadline = deadlineIn(given.fit.searchSeconds);
  if (progress)
    progress(done, parts);
}

/// Returns the seconds until the deadline, or nothing if there is none.
std::optional<double> Planner::getSecondsLeft() const {
  if (!given.fit.searchSeconds)
    return std::nullopt;
  const std::chrono::duration<double> left = deadline - std::chrono::steady_clock::now();
  return std::max(left.count(), 0.0);
}

void Planner::finishPart() {
  const size_t finished = ++done;
  if (progress)
    progress(std::min(finished, parts), parts);
}

PlanSettings Planner::settingsOf(const Choice &choice, const Changes &changes) const {
  PlanSettings settings = given;
  for (auto [own, pick] : llvm::zip_equal(changes, choice.picks))
    if (pick)
      own[*pick].apply(settings);
  return settings;
}

/// Returns the module at a stage before allocation.
Planner::Lowered &Planner::lowerTo(Stage stage, const PlanSettings &settings) {
  auto [entry, isNew] = lowered.try_emplace({stage, keyOf(stage, settings)});
  Lowered &result = entry->second;
  if (!isNew)
    return result;
  auto holdMessages = [&](Diagnostic &message) { result.messages.push_back(std::move(message)); };
  const Stage first = source.getFirstStage();
  if (stage < first ||
      (stage == first && first != Stage::Imported && keyOf(stage, settings) != keyOf(stage, given)))
    return result; // A text has decided these settings.
  if (stage == first) {
    ScopedDiagnosticHandler handler(&source.getContext(), holdMessages);
    if (FailureOr<OwningOpRef<ModuleOp>> imported = source.import(settings); succeeded(imported))
      result.module = std::move(*imported);
    result.messages.clear(); // The import of the given settings has printed them.
    return result;
  }
  Lowered &before = lowerTo(previous(stage), settings);
  if (!before.module)
    return result;
  OwningOpRef<ModuleOp> module = before.module->clone();
  ScopedDiagnosticHandler handler(&source.getContext(), holdMessages);
  if (succeeded(source.lower(*module, stage, settings)))
    result.module = std::move(module);
  return result;
}

/// The messages of the part that this thread works on. A thread may begin a part while it waits for
/// passes of another one, so that MLIR's handler of parallel diagnostics cannot tell them apart.
static thread_local std::vector<Diagnostic> *messagesOfPart = nullptr;

/// Applies an action to each part on several threads. Moves the messages of each part to the part.
template <typename Part>
static void forEachInParallel(MLIRContext &context, std::vector<Part> &parts,
                              llvm::function_ref<void(Part &)> action) {
  ScopedDiagnosticHandler handler(&context, [](Diagnostic &message) {
    if (!messagesOfPart)
      return failure();
    messagesOfPart->push_back(std::move(message));
    return success();
  });
  auto run = [&](Part &part) {
    const llvm::SaveAndRestore current(messagesOfPart, &part.messages);
    action(part);
  };
  if (parts.size() < 2 || !context.isMultithreadingEnabled()) {
    llvm::for_each(parts, run);
    return;
  }
  llvm::ThreadPoolTaskGroup group(context.getThreadPool());
  for (Part &part : parts)
    group.async([&] { run(part); });
  group.wait();
}

/// Lowers the model with each of the settings up to its stage, at most kernels, on several threads.
/// Only a head start for `lowerTo`, which lowers those whose turn comes after the time is up.
void Planner::lowerAll(ArrayRef<Lowering> lowerings) {
  struct Part {
    std::pair<Stage, std::string> key;
    const PlanSettings *settings;
    ModuleOp before;
    OwningOpRef<ModuleOp> module = {};
    bool isLowered = false;
    std::vector<Diagnostic> messages = {};
  };
  for (Stage stage : {Stage::Forward, Stage::Training, Stage::Kernels}) {
    if (stage <= source.getFirstStage())
      continue;
    if (isTimeUp())
      return;
    std::vector<Part> parts;
    std::set<std::string> known;
    for (const Lowering &each : lowerings) {
      std::string key = keyOf(stage, each.settings);
      if (stage > each.last || lowered.contains({stage, key}) || !known.insert(key).second)
        continue;
      if (Lowered &before = lowerTo(previous(stage), each.settings); before.module)
        parts.push_back({{stage, std::move(key)}, &each.settings, *before.module});
    }
    if (parts.size() < 2)
      continue;
    forEachInParallel<Part>(source.getContext(), parts, [&](Part &part) {
      if (isTimeUp())
        return;
      part.module = part.before.clone();
      part.isLowered = succeeded(source.lower(*part.module, stage, *part.settings));
    });
    for (Part &part : parts)
      if (part.isLowered)
        lowered[part.key] = {std::move(part.module), std::move(part.messages)};
  }
}

Planner::Candidate Planner::candidateOf(const Choice &choice, std::optional<int64_t> budget,
                                        const Changes &changes) const {
  Candidate candidate{settingsOf(choice, changes)};
  candidate.settings.fit.memory = budget;
  for (auto [technique, own, pick] : llvm::zip_equal(getTechniques(), changes, choice.picks))
    if (pick) {
      candidate.flags += (candidate.flags.empty() ? "" : " ") + own[*pick].flags;
      candidate.effect = std::max(candidate.effect, technique.effect);
    }
  // The search removes superfluous changes after it has met the budget, so that its result may be
  // faster than the first plan that meets the budget.
  constexpr double maxSaved = 1.25;
  if (bestFits())
    candidate.settings.fit.maxSeconds = maxSaved * best->needs.seconds;
  candidate.settings.fit.searchSeconds = getSecondsLeft();
  if (given.fit.searchSeconds && !best) { // The first plan has some time, whenever it begins.
    constexpr double minPart = 0.2;
    candidate.settings.fit.searchSeconds =
        std::max(*candidate.settings.fit.searchSeconds, minPart * *given.fit.searchSeconds);
  }
  return candidate;
}

/// Returns the plans of candidates; nothing for those without one. Plans several of them in
/// parallel, each through all of its stages.
std::vector<std::optional<Plan>> Planner::planEach(ArrayRef<Candidate> candidates) {
  struct Step {
    std::pair<Stage, std::string> key;
    Lowered result;
  };
  struct Part {
    Plan plan;
    Stage reached = Stage::Imported; ///< That of the module.
    ModuleOp before = {};            ///< Null if there is nothing to lower.
    OwningOpRef<ModuleOp> module = {};
    std::vector<Step> steps = {}; ///< Stages that this part reaches.
    bool isPlanned = false;
    std::vector<Diagnostic> messages = {}; ///< Those since the last step.
  };
  lowerShared(candidates);
  const bool mayMoveVariables =
      given.fit.offload.getUses(source.getPlanContext().offloadSpace).mayMoveVariables();
  auto checkVariables = [&](Plan &plan, ModuleOp module, Stage stage) {
    plan.needs.peak = bytesOfVariables(module, stage);
    plan.isTooMuch = plan.settings.fit.memory && plan.needs.peak > *plan.settings.fit.memory &&
                     !mayMoveVariables;
  };
  std::vector<Part> parts;
  for (const Candidate &candidate : candidates) {
    Part &part = parts.emplace_back();
    part.plan.settings = candidate.settings;
    part.plan.flags = candidate.flags;
    part.plan.effect = candidate.effect;
    part.reached = findReached(candidate.settings);
    Lowered &before = lowerTo(part.reached, candidate.settings);
    bool isOpen = before.module && source.getFirstStage() <= Stage::Training;
    for (Stage stage : {Stage::Training, Stage::Kernels})
      if (isOpen && stage <= part.reached) {
        checkVariables(part.plan, *lowerTo(stage, candidate.settings).module, stage);
        isOpen = !part.plan.isTooMuch;
      }
    if (isOpen)
      part.before = *before.module;
  }
  forEachInParallel<Part>(source.getContext(), parts, [&](Part &part) {
    if (!part.before)
      return;
    part.module = part.before.clone();
    const PlanSettings &settings = part.plan.settings;
    while (part.reached < Stage::Kernels) {
      part.reached = next(part.reached);
      const bool isLowered = succeeded(source.lower(*part.module, part.reached, settings));
      if (isLowered && part.reached >= Stage::Training)
        checkVariables(part.plan, *part.module, part.reached);
      const bool isOpen = isLowered && !part.plan.isTooMuch;
      Step &step = part.steps.emplace_back();
      step.key = {part.reached, keyOf(part.reached, settings)};
      step.result.messages = std::exchange(part.messages, {});
      if (isOpen)
        step.result.module = part.module->clone();
      else if (isLowered)
        step.result.module = std::move(part.module);
      if (!isOpen) {
        part.module = nullptr;
        return;
      }
    }
    if (failed(source.lower(*part.module, Stage::Allocated, settings)))
      return;
    part.plan.needs = needsOf(*part.module, settings);
    part.isPlanned = true;
  });
  std::vector<std::optional<Plan>> plans;
  for (Part &part : parts) {
    for (Step &step : part.steps)
      lowered.try_emplace(std::move(step.key), std::move(step.result));
    part.plan.allocated = std::move(part.module);
    part.plan.messages = std::move(part.messages);
    plans.push_back(part.isPlanned || part.plan.isTooMuch ? std::optional(std::move(part.plan))
                                                          : std::nullopt);
  }
  return plans;
}

/// Returns the last stage before allocation that has been lowered with the settings, or the first
/// one.
Stage Planner::findReached(const PlanSettings &settings) const {
  Stage stage = Stage::Kernels;
  while (stage > source.getFirstStage() && !lowered.contains({stage, keyOf(stage, settings)}))
    stage = previous(stage);
  return stage;
}

/// Lowers the model to the stages that several candidates share.
void Planner::lowerShared(ArrayRef<Candidate> candidates) {
  for (Stage stage : {Stage::Forward, Stage::Training, Stage::Kernels}) {
    std::set<std::string> known;
    for (const Candidate &candidate : candidates)
      if (!known.insert(keyOf(stage, candidate.settings)).second)
        lowerTo(stage, candidate.settings);
  }
}

/// Keeps the plan of a combination if it is the best one. `maxSeconds` limits an update instead of
/// the best plan does. Other threads plan the combinations that probably follow.
std::optional<PlanNeeds> Planner::tryOut(const Choice &choice, std::optional<double> maxSeconds) {
  Candidate own = candidateOf(choice, given.fit.memory);
  if (maxSeconds)
    own.settings.fit.maxSeconds = maxSeconds;
  auto isOwn = [&](const Ahead &each) {
    return each.flags == own.flags && each.maxSeconds == own.settings.fit.maxSeconds;
  };
  if (auto known = llvm::find_if(ahead, isOwn); known != ahead.end()) {
    std::optional<Plan> plan = std::move(known->plan);
    ahead.erase(known);
    return compare(choice, std::move(plan));
  }
  ahead.clear();
  std::vector<Candidate> candidates = {own};
  if (source.getContext().getNumThreads() > 1 && !isTimeUp())
    llvm::append_range(candidates, guessNext());
  std::vector<std::optional<Plan>> plans = planEach(candidates);
  for (size_t i = 1; i < plans.size(); ++i)
    ahead.push_back(
        {candidates[i].flags, candidates[i].settings.fit.maxSeconds, std::move(plans[i])});
  return compare(choice, std::move(plans.front()));
}

/// Plans with each of the settings, on several threads. Nothing for settings without a plan and for
/// those whose turn comes after the time is up.
std::vector<std::optional<PlanNeeds>> Planner::planAll(ArrayRef<PlanSettings> all) {
  struct Part {
    const PlanSettings *settings;
    ModuleOp kernels; ///< Null if they cannot be formed.
    std::optional<PlanNeeds> needs = std::nullopt;
  };
  lowerAll(llvm::map_to_vector<0>(
      all, [](const PlanSettings &settings) { return Lowering{settings, Stage::Kernels}; }));
  std::vector<Part> plans;
  for (const PlanSettings &settings : all) {
    Lowered &kernels = lowerTo(Stage::Kernels, settings);
    plans.push_back({&settings, kernels.module.get()});
  }
  ScopedDiagnosticHandler handler(&source.getContext(), [](Diagnostic &) {});
  parallelForEach(&source.getContext(), plans, [&](Part &part) {
    if (part.kernels && !isTimeUp()) {
      const OwningOpRef<ModuleOp> module = part.kernels.clone();
      PlanSettings settings = *part.settings;
      settings.fit.searchSeconds = getSecondsLeft();
      if (succeeded(source.lower(*module, Stage::Allocated, settings)))
        part.needs = needsOf(*module, settings);
    }
    finishPart();
  });
  std::vector<std::optional<PlanNeeds>> needs;
  needs.reserve(plans.size());
  for (const Part &part : plans)
    needs.push_back(part.needs);
  return needs;
}

/// Returns the cost of kernels without a budget: a lower bound on the time with one.
static std::optional<PlanNeeds> needsWithoutBudget(ModuleOp kernels, const PlanSettings &settings) {
  MemoryAnalysis analysis(kernels);
  if (failed(analysis.update()))
    return std::nullopt;
  StepCost cost(kernels);
  const TimedCost update = costOf(kernels, settings, cost);
  return PlanNeeds{analysis.getLiveBytes(), update.seconds(), update.flops};
}

/// Returns the cost of each combination without a budget; nothing for those without a plan and for
/// those, except the first, whose turn comes after the time is up.
SmallVector<std::optional<PlanNeeds>, 0> Planner::boundEach(ArrayRef<Choice> choices) {
  struct Part {
    std::string key;
    PlanSettings settings;
    ModuleOp kernels = {};
    std::optional<PlanNeeds> needs = {};
  };
  std::vector<Part> parts;
  std::vector<std::string> keys;
  for (const Choice &choice : choices) {
    PlanSettings settings = settingsOf(choice);
    keys.push_back(keyOf(Stage::Kernels, settings));
    if (!bounds.contains(keys.back()))
      parts.push_back({keys.back(), std::move(settings)});
  }
  lowerAll(llvm::map_to_vector<0>(
      parts, [](const Part &part) { return Lowering{part.settings, Stage::Kernels}; }));
  while (parts.size() > 1 && isTimeUp() && !lowered.contains({Stage::Kernels, parts.back().key}))
    parts.pop_back();
  for (Part &part : parts)
    part.kernels = lowerTo(Stage::Kernels, part.settings).module.get();
  parallelForEach(&source.getContext(), parts, [](Part &part) {
    if (part.kernels)
      part.needs = needsWithoutBudget(part.kernels, part.settings);
  });
  for (Part &part : parts)
    bounds.try_emplace(std::move(part.key), part.needs);
  return llvm::map_to_vector<0>(keys, [&](const std::string &key) {
    const auto known = bounds.find(key);
    return known == bounds.end() ? std::nullopt : known->second;
  });
}

/// Returns the seconds of the library calls of an update, before kernels are formed. Some calls
/// become parts of others later.
std::optional<double> Planner::getSecondsOfCalls(const Choice &choice) {
  const PlanSettings settings = settingsOf(choice);
  Lowered &training = lowerTo(Stage::Training, settings);
  if (!training.module)
    return std::nullopt;
  StepCost cost(*training.module);
  return costOf(*training.module, settings, cost).seconds();
}
