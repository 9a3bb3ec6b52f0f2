//===- PipelineText.cpp - Memory and time of each pipeline stage ------------------------------===//

#include "driver/PipelineText.h"

#include "driver/PlanText.h"
#include "passes/cost/PipelineCost.h"
#include "passes/memory/MemoryPlan.h"
#include "passes/pipeline/Stages.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mtc;

/// Returns the copies of the slots of a stage: the micro-steps in progress.
static int64_t copiesOf(ModuleOp stage) {
  int64_t copies = 1;
  for (auto variable : stage.getOps<VariableOp>())
    copies = std::max(copies, static_cast<int64_t>(variable.getCopies()));
  return copies;
}

static int64_t bytesOfSlots(ModuleOp stage) {
  int64_t bytes = 0;
  for (auto variable : stage.getOps<VariableOp>())
    if (variable.getRole() == Role::Slot)
      bytes += paddedBytes(byteSize(variable.getTensorType())) *
               static_cast<int64_t>(variable.getCopies());
  return bytes;
}

void mtc::tool::addStages(ModuleOp program, llvm::json::Object &object) {
  const SmallVector<ModuleOp> stages = stagesOf(program);
  if (stages.size() == 1)
    return;
  const PipelineCost cost = estimatePipeline(stages);
  llvm::json::Array list;
  for (auto [stage, module] : llvm::zip_equal(cost.stages, stages))
    list.push_back(llvm::json::Object{{"peak_bytes", MemoryPlan::ofAllocated(module).peak},
                                      {"slot_bytes", bytesOfSlots(module)},
                                      {"micro_steps_in_progress", copiesOf(module)},
                                      {"busy_seconds", stage.busy},
                                      {"update_seconds", stage.update},
                                      {"sent_bytes", stage.sentBytes}});
  object["pipeline"] = llvm::json::Object{
      {"seconds", cost.seconds}, {"bubble", cost.getBubble()}, {"stages", std::move(list)}};
}

void mtc::tool::printStages(ModuleOp program, llvm::raw_ostream &stream) {
  const SmallVector<ModuleOp> stages = stagesOf(program);
  if (stages.size() == 1)
    return;
  const PipelineCost cost = estimatePipeline(stages);
  stream << llvm::formatv("Stages        {0}, about {1} per update; they wait for each other for "
                          "{2:f0} % of it\n",
                          stages.size(), formatSeconds(cost.seconds), 100 * cost.getBubble());
  stream << "  stage  memory      of which slots  micro-steps in progress  computes  sends\n";
  for (auto [number, module] : llvm::enumerate(stages)) {
    const PipelineCost::Stage &stage = cost.stages[number];
    stream << llvm::formatv("  {0,-5}  {1,-10}  {2,-14}  {3,-23}  {4,-8}  {5}\n", number,
                            formatBytes(MemoryPlan::ofAllocated(module).peak),
                            formatBytes(bytesOfSlots(module)), copiesOf(module),
                            formatSeconds(stage.busy + stage.update), formatBytes(stage.sentBytes));
  }
}
