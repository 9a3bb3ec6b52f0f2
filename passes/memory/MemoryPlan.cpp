//===- MemoryPlan.cpp - Memory requirements of a program --------------------------------------===//

#include "passes/memory/MemoryPlan.h"

#include "passes/memory/MemoryTimeline.h"

using namespace mlir;
using namespace mtc;

MemoryPlan::Categories MemoryPlan::Categories::ofVariables(ModuleOp module) {
  Categories categories;
  for (auto variable : module.getOps<VariableOp>()) {
    // Transient variables have no slice during training, and those of other stages have none.
    if (variable.getTransient() || variable.isElsewhere() ||
        variable.getSpace() != MemorySpace::Device)
      continue;
    int64_t bytes = paddedBytes(byteSize(variable.getTensorType()));
    switch (variable.getRole()) {
    case Role::Gradient:
      categories.gradients += bytes;
      break;
    case Role::Optimizer:
    case Role::Average:
      categories.optimizer += bytes;
      break;
    case Role::Slot: // Activations are all that remains.
      break;
    default:
      categories.parameters += bytes;
    }
  }
  return categories;
}

void MemoryPlan::Categories::fill(int64_t total, int64_t dataBytes, int64_t workspaceBytes) {
  data = dataBytes;
  workspace = workspaceBytes;
  activations = total - parameters - gradients - optimizer - data - workspace;
}

MemoryPlan MemoryPlan::ofAllocated(ModuleOp placed) {
  MemoryPlan plan;
  ArenaOp arena = ArenaOp::find(placed);
  plan.peak = arena.getSize();
  plan.live = arena.getLive();
  plan.counted = arena.getRedzone() ? plan.live : plan.peak;
  plan.floor = arena.getFloor();
  plan.separateRun = arena.getSeparate();
  plan.outputsRun = arena.getOutputs();
  plan.staging = arena.getStaging();
  for (auto other : placed.getOps<ArenaOp>())
    if (other != arena)
      plan.otherSpaces.push_back({other.getSpace(), static_cast<int64_t>(other.getSize())});
  plan.peakAt = arena.getPeakAtAttr();
  plan.categories = Categories::ofVariables(placed);
  plan.categories.fill(plan.peak, arena.getDataBytes(), arena.getWorkspaceBytes());
  return plan;
}

void MemoryPlan::setCategories(const MemoryTimeline &timeline) {
  using Category = MemoryTimeline::Category;
  categories = {};
  auto bytesOf = [&](Category category) -> int64_t & {
    switch (category) {
    case Category::Parameter:
      return categories.parameters;
    case Category::Gradient:
      return categories.gradients;
    case Category::Optimizer:
      return categories.optimizer;
    case Category::Activation:
      return categories.activations;
    case Category::Workspace:
      return categories.workspace;
    case Category::Data:
      return categories.data;
    case Category::ActivationGradient:
      return categories.activationGradients;
    }
    llvm_unreachable("all categories are handled");
  };
  categories.activations = peak;
  for (const MemoryTimeline::Lifetime *value : timeline.getAliveAtPeak()) {
    bytesOf(value->category) += value->bytes;
    categories.activations -= value->bytes;
  }
}
