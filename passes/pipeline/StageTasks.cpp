//===- StageTasks.cpp - Tasks of pipeline stages ----------------------------------------------===//

#include "passes/pipeline/StageTasks.h"

#include "ir/ReservedNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mtc;

namespace {

/// Collects the tasks of a stage.
class TaskList {
public:
  explicit TaskList(MLIRContext *context) : context(context) {}

  void load(int64_t micro) { add(TaskKind::Load, 0, {}, micro); }
  void run(StringRef function, int64_t micro) {
    add(TaskKind::Run, 0, FlatSymbolRefAttr::get(context, function), micro);
  }
  void startReceives(ArrayRef<int64_t> messages, int64_t micro) {
    for (int64_t message : messages)
      add(TaskKind::Start, message, {}, micro);
  }
  void startSends(ArrayRef<int64_t> messages, int64_t micro) {
    for (int64_t message : messages) {
      add(TaskKind::Start, message, {}, micro);
      sending.insert({message, micro});
    }
  }
  void waitForReceives(ArrayRef<int64_t> messages, int64_t micro) {
    for (int64_t message : messages)
      add(TaskKind::Wait, message, {}, micro);
  }
  /// Waits for the sends of a micro-step that have not ended.
  void waitForSends(ArrayRef<int64_t> messages, int64_t micro) {
    for (int64_t message : messages)
      if (sending.remove({message, micro}))
        add(TaskKind::Wait, message, {}, micro);
  }
  void waitForAll() {
    for (auto [message, micro] : sending)
      add(TaskKind::Wait, message, {}, micro);
    sending.clear();
  }

  void write(ModuleOp stage, StringRef of) {
    OpBuilder builder = OpBuilder::atBlockEnd(stage.getBody());
    TasksOp::create(builder, stage.getLoc(), of, builder.getArrayAttr(tasks));
  }

private:
  void add(TaskKind kind, int64_t message, FlatSymbolRefAttr function, int64_t micro) {
    tasks.push_back(TaskAttr::get(context, kind, message, function, micro));
  }

  MLIRContext *context;
  SmallVector<Attribute> tasks;
  llvm::SetVector<std::pair<int64_t, int64_t>> sending; ///< messages and micro-steps
};

} // namespace

void mtc::writeUpdateTasks(ModuleOp stage, ArrayRef<PipelineTask> order,
                           const DenseMap<int64_t, ChunkTasks> &chunks, int64_t micros,
                           StringRef last) {
  TaskList list(stage.getContext());
  auto receive = [&](const ChunkTasks &chunk, int64_t micro) {
    if (micro >= micros)
      return;
    list.startReceives(chunk.received[false], micro);
    list.startReceives(chunk.received[true], micro);
  };
  for (const PipelineTask &task : order)
    if (task.micro == 0 && !task.isBackward)
      for (int64_t micro = 0; micro < chunks.find(task.chunk)->second.slots; ++micro)
        receive(chunks.find(task.chunk)->second, micro);
  for (const PipelineTask &task : order) {
    const ChunkTasks &chunk = chunks.find(task.chunk)->second;
    const bool isOnlyPart = chunk.backward.empty();
    if (!task.isBackward && chunk.readsInputs)
      list.load(task.micro);
    list.waitForReceives(chunk.received[task.isBackward], task.micro);
    for (bool isBackward : {false, true})
      if (isOnlyPart || isBackward == task.isBackward)
        list.waitForSends(chunk.sent[isBackward], task.micro - chunk.slots);
    list.run(task.isBackward ? chunk.backward : chunk.forward, task.micro);
    for (bool isBackward : {false, true})
      if (isOnlyPart || isBackward == task.isBackward)
        list.startSends(chunk.sent[isBackward], task.micro);
    if (isOnlyPart || task.isBackward)
      receive(chunk, task.micro + chunk.slots);
  }
  list.waitForAll();
  if (!last.empty())
    list.run(last, micros - 1);
  list.write(stage, microStepName);
}

void mtc::writeForwardTasks(ModuleOp stage, StringRef of, ArrayRef<ChunkTasks> chunks) {
  TaskList list(stage.getContext());
  for (const ChunkTasks &chunk : chunks) {
    list.startReceives(chunk.received[false], 0);
    if (chunk.readsInputs)
      list.load(0);
    list.waitForReceives(chunk.received[false], 0);
    list.run(chunk.forward, 0);
    list.startSends(chunk.sent[false], 0);
  }
  list.waitForAll();
  list.write(stage, of);
}

namespace {

/// Runs the tasks of all stages as far as they go.
class DeadlockFinder {
public:
  DeadlockFinder(ArrayRef<ModuleOp> stages, StringRef of) {
    for (ModuleOp stage : stages) {
      State state;
      for (auto tasks : stage.getOps<TasksOp>())
        if (tasks.getOf() == of)
          state.tasks = llvm::to_vector(tasks.getTasks().getAsRange<TaskAttr>());
      state.messages = llvm::to_vector(stage.getOps<MessageOp>());
      states.push_back(std::move(state));
    }
  }

  std::string run() {
    for (bool advances = true; advances;) {
      advances = false;
      for (State &state : states)
        while (state.next < state.tasks.size() && canRun(state, state.tasks[state.next])) {
          ++state.next;
          advances = true;
        }
    }
    for (auto [stage, state] : llvm::enumerate(states))
      if (state.next < state.tasks.size())
        return ("stage " + Twine(stage) + " waits for channel " +
                Twine(state.messages[state.tasks[state.next].getMessage()].getChannel()) +
                " of micro-step " + Twine(state.tasks[state.next].getMicro()))
            .str();
    return "";
  }

private:
  struct State {
    SmallVector<TaskAttr> tasks;
    SmallVector<MessageOp> messages;
    size_t next = 0;
  };

  bool canRun(State &state, TaskAttr task) {
    if (task.getKind() != TaskKind::Start && task.getKind() != TaskKind::Wait)
      return true;
    MessageOp message = state.messages[task.getMessage()];
    const std::pair key(static_cast<int64_t>(message.getChannel()), task.getMicro());
    if (task.getKind() == TaskKind::Start) {
      started[message.getSent()].insert(key);
      return true;
    }
    return started[true].contains(key) && started[false].contains(key);
  }

  std::vector<State> states;
  llvm::DenseSet<std::pair<int64_t, int64_t>> started[2]; ///< receives and sends
};

} // namespace

std::string mtc::findDeadlock(ArrayRef<ModuleOp> stages, StringRef of) {
  return DeadlockFinder(stages, of).run();
}
