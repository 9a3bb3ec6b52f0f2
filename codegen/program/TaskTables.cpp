//===- TaskTables.cpp - Tables of a pipeline stage's messages and tasks -----------------------===//

#include "codegen/program/TaskTables.h"

#include "ir/NodeNames.h"
#include "ir/steps/VariableAccess.h"
#include "runtime/abi/program.h"

using namespace mlir;
using namespace mtc;

using llvm::Constant;

static_assert(static_cast<int>(TaskKind::Load) == MTC_LOAD_TASK &&
              static_cast<int>(TaskKind::Start) == MTC_START_TASK &&
              static_cast<int>(TaskKind::Wait) == MTC_WAIT_TASK &&
              static_cast<int>(TaskKind::Run) == MTC_RUN_TASK);

/// Returns the variables of a message.
static SmallVector<VariableOp> variablesOf(MessageOp message) {
  auto module = message->getParentOfType<ModuleOp>();
  return llvm::map_to_vector(
      message.getVariables().getAsRange<FlatSymbolRefAttr>(),
      [&](FlatSymbolRefAttr symbol) { return module.lookupSymbol<VariableOp>(symbol); });
}

Constant *TaskTables::describeMessage(MessageOp message, int64_t distance, int64_t copy) const {
  SmallVector<int64_t> offsets, bytes;
  SmallVector<Location> locations;
  for (VariableOp variable : variablesOf(message)) {
    offsets.push_back(static_cast<int64_t>(*variable.getOffset()) + copy * bytesOfCopy(variable));
    bytes.push_back(byteSize(variable.getTensorType()));
    locations.push_back(variable.getLoc());
  }
  return c.record(
      field<&MtcMessage::distance>(distance), field<&MtcMessage::is_sent>(message.getSent()),
      field<&MtcMessage::channel>(message.getChannel()),
      field<&MtcMessage::range_count>(offsets.size()),
      field<&MtcMessage::offsets>(c.i64Array(offsets)),
      field<&MtcMessage::bytes>(c.i64Array(bytes)),
      field<&MtcMessage::nodes>(nodeNames(FusedLoc::get(message.getContext(), locations))));
}

void TaskTables::addMessages(ModuleOp placed) {
  ProgramOp program = ProgramOp::find(placed);
  const RanksAttr ranks = program ? program.getRanksAttr() : RanksAttr();
  const int64_t own = program ? static_cast<int64_t>(program.getPipelineStage().value_or(0)) : 0,
                ranksOfStage = ranks ? ranks.getRanksOfStage() : 1;
  for (auto message : placed.getOps<MessageOp>()) {
    const auto copies = static_cast<int64_t>(variablesOf(message).front().getCopies());
    entries.push_back({messages.size(), copies});
    const int64_t distance = (static_cast<int64_t>(message.getStage()) - own) * ranksOfStage;
    for (int64_t copy = 0; copy < copies; ++copy)
      messages.push_back(describeMessage(message, distance, copy));
  }
}

FailureOr<Constant *> TaskTables::describeTasks(ModuleOp placed, StringRef of) const {
  SmallVector<Constant *> tasks;
  for (auto list : placed.getOps<TasksOp>()) {
    if (list.getOf() != of)
      continue;
    for (auto task : list.getTasks().getAsRange<TaskAttr>()) {
      uint32_t index = 0;
      if (task.getKind() == TaskKind::Run) {
        const StringRef name = task.getFunction().getValue();
        if (!placed.lookupSymbol(name))
          return list.emitOpError("runs ") << task.getFunction() << ", which is not a step";
        const std::optional<uint32_t> function = steps.findFunction(name, task.getMicro());
        if (!function)
          continue; // The step is empty.
        index = *function;
      } else if (task.getKind() != TaskKind::Load) {
        const auto [first, copies] = entries[static_cast<size_t>(task.getMessage())];
        index = static_cast<uint32_t>(first + task.getMicro() % copies);
      }
      tasks.push_back(c.record(field<&MtcTask::kind>(task.getKind()), field<&MtcTask::index>(index),
                               field<&MtcTask::micro_step>(task.getMicro())));
    }
  }
  return c.record(field<&MtcTaskList::count>(tasks.size()),
                  field<&MtcTaskList::tasks>(c.array(tasks)));
}
