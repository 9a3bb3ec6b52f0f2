//===- PipelineCost.cpp - Estimated time of an update of pipeline stages ----------------------===//

#include "passes/cost/PipelineCost.h"

#include "ir/ReservedNames.h"
#include "passes/cost/Network.h"
#include "passes/cost/TransferCost.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mtc;

double PipelineCost::getBubble() const {
  double busy = 0;
  for (const Stage &stage : stages)
    busy += stage.busy + stage.update;
  return seconds > 0 ? 1 - busy / (seconds * static_cast<double>(stages.size())) : 0;
}

namespace {

class PipelineSimulation {
public:
  explicit PipelineSimulation(ArrayRef<ModuleOp> modules) {
    for (ModuleOp module : modules)
      addStage(module);
  }

  PipelineCost run() {
    for (bool advances = true; advances;) {
      advances = false;
      for (Stage &stage : stages)
        while (stage.next < stage.tasks.size() && runTask(stage, stage.tasks[stage.next])) {
          ++stage.next;
          advances = true;
        }
    }
    PipelineCost cost;
    for (Stage &stage : stages) {
      cost.seconds = std::max(cost.seconds, stage.now + stage.cost.update);
      cost.stages.push_back(std::move(stage.cost));
    }
    return cost;
  }

private:
  struct Stage {
    SmallVector<TaskAttr> tasks;
    SmallVector<MessageOp> messages;
    SmallVector<double> secondsOfMessages;
    llvm::StringMap<double> secondsOfFunctions;
    size_t next = 0;
    double now = 0;
    PipelineCost::Stage cost;
  };
  using Key = std::pair<int64_t, int64_t>; ///< channel and micro-step

  void addStage(ModuleOp module) {
    Stage stage;
    StepCost cost(module);
    for (auto step : module.getOps<StepOp>()) {
      const double seconds =
          cost.ofFunction(step.getSymName()).seconds() + estimateTransfers(step, cost).exposed;
      stage.secondsOfFunctions[step.getSymName()] = seconds;
      if (step.getSymName() == updateName)
        stage.cost.update = seconds;
    }
    for (auto tasks : module.getOps<TasksOp>())
      if (tasks.getOf() == microStepName)
        stage.tasks = llvm::to_vector(tasks.getTasks().getAsRange<TaskAttr>());
    const RanksAttr ranks = ProgramOp::find(module).getRanksAttr();
    const std::optional<Network> network = Network::parse(ranks.getNetwork());
    for (auto message : module.getOps<MessageOp>()) {
      const int64_t bytes = bytesOf(message);
      stage.messages.push_back(message);
      const bool isInside = network && ranks.getCount() <= network->ranksOfNode;
      stage.secondsOfMessages.push_back(
          network
              ? (isInside ? network->inside : network->link).estimate(1, static_cast<double>(bytes))
              : 0);
    }
    stages.push_back(std::move(stage));
  }

  /// Returns false if the task waits for a message that the other side has not started.
  bool runTask(Stage &stage, TaskAttr task) {
    if (task.getKind() == TaskKind::Load)
      return true;
    if (task.getKind() == TaskKind::Run) {
      const StringRef name = task.getFunction().getValue();
      const double seconds = stage.secondsOfFunctions.lookup(name);
      stage.cost.runs.push_back({name.str(), task.getMicro(), stage.now, stage.now + seconds});
      stage.now += seconds;
      stage.cost.busy += seconds;
      return true;
    }
    MessageOp message = stage.messages[task.getMessage()];
    const Key key(static_cast<int64_t>(message.getChannel()), task.getMicro());
    if (task.getKind() == TaskKind::Start) {
      started[message.getSent()][key] = stage.now;
      if (message.getSent())
        stage.cost.sentBytes += bytesOf(message);
      return true;
    }
    auto sent = started[true].find(key), received = started[false].find(key);
    if (sent == started[true].end() || received == started[false].end())
      return false;
    stage.now = std::max(stage.now, std::max(sent->second, received->second) +
                                        stage.secondsOfMessages[task.getMessage()]);
    return true;
  }

  static int64_t bytesOf(MessageOp message) {
    int64_t bytes = 0;
    for (auto symbol : message.getVariables().getAsRange<FlatSymbolRefAttr>())
      bytes += byteSize(message->getParentOfType<ModuleOp>()
                            .lookupSymbol<VariableOp>(symbol.getValue())
                            .getTensorType());
    return bytes;
  }

  std::vector<Stage> stages;
  DenseMap<Key, double> started[2]; ///< receives and sends
};

} // namespace

PipelineCost mtc::estimatePipeline(ArrayRef<ModuleOp> stages) {
  return PipelineSimulation(stages).run();
}
