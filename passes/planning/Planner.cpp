//===- Planner.cpp - Plans and cost estimates for given settings ------------------------------===//

#include "passes/planning/Planner.h"

#include "ir/ReservedNames.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "passes/cost/StepCost.h"
#include "passes/cost/TransferCost.h"
#include "passes/memory/MemoryAnalysis.h"
#include "passes/pipeline/Stages.h"
#include "passes/planning/ParallelParts.h"

#include "mlir/IR/Threading.h"

using namespace mlir;
using namespace mtc;

/// Returns the time of an update, excluding transfers.
static TimedCost costOf(ModuleOp module, const PlanSettings &settings, StepCost &cost) {
  TimedCost sum = cost.ofFunction(updateName);
  const TimedCost micro = cost.ofFunction(microStepName);
  const int64_t count = settings.training.loss.microSteps;
  sum += {count * micro.picoseconds, count * micro.flops, count * micro.bytes};
  return sum;
}

/// Returns the cost of a program with several stages, by that of the stages: the largest peak, and
/// the time of the slowest stage, which other stages wait for at the beginning and the end.
static PlanCost costOfStages(ArrayRef<PlanCost> stages, const PlanSettings &settings) {
  PlanCost all = stages.front();
  for (const PlanCost &stage : stages.drop_front()) {
    all.peak = std::max(all.peak, stage.peak);
    all.seconds = std::max(all.seconds, stage.seconds);
    all.flops = std::max(all.flops, stage.flops);
  }
  const auto micros = static_cast<double>(std::max<int64_t>(settings.training.loss.microSteps, 1));
  all.seconds *= 1 + static_cast<double>(stages.size() - 1) / micros;
  return all;
}

/// Returns the cost of an allocated module.
static PlanCost costOfAllocated(ModuleOp allocated, const PlanSettings &settings) {
  SmallVector<PlanCost> stages;
  for (ModuleOp stage : stagesOf(allocated)) {
    StepCost cost(stage);
    const TimedCost update = costOf(stage, settings, cost);
    stages.push_back({MemoryPlan::ofAllocated(stage).counted,
                      update.seconds() + estimateTransfers(stage, cost).exposed, update.flops});
  }
  return costOfStages(stages, settings);
}

/// Returns the cost of kernels without a budget.
static std::optional<PlanCost> costOfKernels(ModuleOp kernels, const PlanSettings &settings) {
  SmallVector<PlanCost> stages;
  for (ModuleOp stage : stagesOf(kernels)) {
    MemoryAnalysis analysis(stage);
    if (failed(analysis.update()))
      return std::nullopt;
    StepCost cost(stage);
    const TimedCost update = costOf(stage, settings, cost);
    stages.push_back({analysis.getLiveBytes(), update.seconds(), update.flops});
  }
  return costOfStages(stages, settings);
}

/// Returns the bytes of the variables, a lower bound on the peak unless some are offloaded. Before
/// the kernel stage, gradients do not count, since they may be fused away.
static int64_t bytesOfVariables(ModuleOp program, Stage stage) {
  int64_t most = 0;
  for (ModuleOp module : stagesOf(program)) {
    FailureOr<VariableLayout> variables = VariableLayout::compute(module, /*gap=*/0);
    int64_t bytes = 0;
    if (succeeded(variables))
      for (const VariableLayout::Entry &entry : variables->getEntries())
        if (VariableOp variable = entry.variable;
            entry.offset && entry.space == MemorySpace::Device &&
            (stage == Stage::Kernels || variable.getRole() != Role::Gradient))
          bytes += entry.bytes * static_cast<int64_t>(variable.getCopies());
    most = std::max(most, bytes);
  }
  return most;
}

Planner::Planner(PlanSource &source, PlanSettings settings, PlanProgress report)
    : source(source), given(std::move(settings)),
      progress(given.fit.searchSeconds, std::move(report)), stages(source, given),
      mayMoveVariables(
          given.fit.offload.getUses(source.getPlanContext().offloadSpace).mayMoveVariables()) {}

//===------------------------------------------------------------------------------------------===//
// Plans
//===------------------------------------------------------------------------------------------===//

/// A request that is lowered from stage to stage.
struct Planner::Part {
  /// A stage that this part reaches, for the cache.
  struct Step {
    Stage stage;
    std::string key;
    StageCache::Lowered result;
  };
  Plan plan;
  Stage reached = Stage::Imported; ///< That of the module.
  ModuleOp before = {};            ///< Null if there is nothing to lower.
  OwningOpRef<ModuleOp> module = {};
  std::vector<Step> steps = {};
  bool isPlanned = false;
  std::vector<Diagnostic> messages = {}; ///< Those since the last step.
};

/// Sets whether the variables alone exceed the budget.
void Planner::checkVariables(Plan &plan, ModuleOp module, Stage stage) const {
  const std::optional<int64_t> budget = plan.request.settings.fit.memory;
  plan.cost.peak = bytesOfVariables(module, stage);
  plan.isTooMuch = budget && plan.cost.peak > *budget && !mayMoveVariables;
}

/// Returns a part that begins at the last stage known for its settings.
Planner::Part Planner::beginPart(const PlanRequest &request) {
  Part part;
  part.plan.request = request;
  part.reached = stages.findReached(request.settings);
  StageCache::Lowered &before = stages.lowerTo(part.reached, request.settings);
  bool isOpen = before.module && source.getFirstStage() <= Stage::Training;
  for (Stage stage : {Stage::Training, Stage::Kernels})
    if (isOpen && stage <= part.reached) {
      checkVariables(part.plan, *stages.lowerTo(stage, request.settings).module, stage);
      isOpen = !part.plan.isTooMuch;
    }
  if (isOpen)
    part.before = *before.module;
  return part;
}

/// Lowers a part to the allocated stage, unless its variables alone exceed the budget.
void Planner::runPart(Part &part) {
  if (!part.before)
    return;
  part.module = part.before.clone();
  const PlanSettings &settings = part.plan.request.settings;
  while (part.reached < Stage::Kernels) {
    part.reached = nextStage(part.reached);
    const bool isLowered = succeeded(source.lower(*part.module, part.reached, settings));
    if (isLowered && part.reached >= Stage::Training)
      checkVariables(part.plan, *part.module, part.reached);
    const bool isOpen = isLowered && !part.plan.isTooMuch;
    Part::Step &step = part.steps.emplace_back();
    step.stage = part.reached;
    step.key = StageCache::keyOf(part.reached, settings);
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
  if (failed(source.lower(*part.module, Stage::Allocated, settings))) {
    // A large module takes as long to allocate as to search.
    if (auto reached = (*part.module)->getAttrOfType<ArrayAttr>(tooSlowAttribute)) {
      part.plan.cost.peak = cast<IntegerAttr>(reached[0]).getInt();
      part.plan.cost.seconds = cast<FloatAttr>(reached[1]).getValueAsDouble();
      part.isPlanned = true;
    }
    part.module = nullptr;
    return;
  }
  part.plan.cost = costOfAllocated(*part.module, settings);
  part.isPlanned = true;
}

std::vector<std::optional<Plan>> Planner::planEach(ArrayRef<const PlanRequest *> requests) {
  stages.lowerShared(
      llvm::map_to_vector(requests, [](const PlanRequest *request) { return &request->settings; }));
  std::vector<Part> parts;
  for (const PlanRequest *request : requests)
    parts.push_back(beginPart(*request));
  forEachInParallel<Part>(source.getContext(), parts, [&](Part &part) { runPart(part); });
  std::vector<std::optional<Plan>> plans;
  for (Part &part : parts) {
    for (Part::Step &step : part.steps)
      stages.add(step.stage, std::move(step.key), std::move(step.result));
    part.plan.allocated = std::move(part.module);
    part.plan.messages = std::move(part.messages);
    plans.push_back(part.isPlanned || part.plan.isTooMuch ? std::optional(std::move(part.plan))
                                                          : std::nullopt);
  }
  return plans;
}

void Planner::addMessages(Plan &plan) {
  std::vector<Diagnostic> messages;
  for (Stage stage : {Stage::Forward, Stage::Training, Stage::Kernels})
    for (Diagnostic &message : stages.lowerTo(stage, plan.request.settings).messages)
      messages.push_back(std::move(message));
  for (Diagnostic &message : plan.messages)
    messages.push_back(std::move(message));
  plan.messages = std::move(messages);
}

//===------------------------------------------------------------------------------------------===//
// Costs
//===------------------------------------------------------------------------------------------===//

std::vector<std::optional<PlanCost>> Planner::estimateEach(ArrayRef<PlanSettings> all) {
  struct Part {
    const PlanSettings *settings;
    ModuleOp kernels; ///< Null if they cannot be formed.
    std::optional<PlanCost> cost = std::nullopt;
  };
  lowerAhead(llvm::map_to_vector<0>(all, [](const PlanSettings &settings) {
    return StageCache::Request{settings, Stage::Kernels};
  }));
  std::vector<Part> parts;
  for (const PlanSettings &settings : all)
    parts.push_back({&settings, stages.lowerTo(Stage::Kernels, settings).module.get()});
  ScopedDiagnosticHandler handler(&source.getContext(), [](Diagnostic &) {});
  parallelForEach(&source.getContext(), parts, [&](Part &part) {
    if (part.kernels && !isTimeUp()) {
      const OwningOpRef<ModuleOp> module = part.kernels.clone();
      PlanSettings settings = *part.settings;
      settings.fit.searchSeconds = progress.getSecondsLeft();
      if (succeeded(source.lower(*module, Stage::Allocated, settings)))
        part.cost = costOfAllocated(*module, settings);
    }
    progress.finishPart();
  });
  std::vector<std::optional<PlanCost>> costs;
  costs.reserve(parts.size());
  for (const Part &part : parts)
    costs.push_back(part.cost);
  return costs;
}

std::vector<std::optional<PlanCost>> Planner::boundEach(ArrayRef<PlanSettings> all) {
  struct Part {
    std::string key;
    const PlanSettings *settings;
    ModuleOp kernels = {};
    std::optional<PlanCost> cost = {};
  };
  std::vector<Part> parts;
  std::vector<std::string> keys;
  for (const PlanSettings &settings : all) {
    keys.push_back(StageCache::keyOf(Stage::Kernels, settings));
    if (!bounds.contains(keys.back()))
      parts.push_back({keys.back(), &settings});
  }
  lowerAhead(llvm::map_to_vector<0>(
      parts, [](const Part &part) { return StageCache::Request{*part.settings, Stage::Kernels}; }));
  while (parts.size() > 1 && isTimeUp() && !stages.contains(Stage::Kernels, parts.back().key))
    parts.pop_back();
  for (Part &part : parts)
    part.kernels = stages.lowerTo(Stage::Kernels, *part.settings).module.get();
  parallelForEach(&source.getContext(), parts, [](Part &part) {
    if (part.kernels)
      part.cost = costOfKernels(part.kernels, *part.settings);
  });
  for (Part &part : parts)
    bounds.try_emplace(std::move(part.key), part.cost);
  std::vector<std::optional<PlanCost>> costs;
  for (const std::string &key : keys) {
    const auto known = bounds.find(key);
    costs.push_back(known == bounds.end() ? std::nullopt : known->second);
  }
  return costs;
}

std::optional<double> Planner::getSecondsOfCalls(const PlanSettings &settings) {
  StageCache::Lowered &training = stages.lowerTo(Stage::Training, settings);
  if (!training.module)
    return std::nullopt;
  StepCost cost(*training.module);
  return costOf(*training.module, settings, cost).seconds();
}
