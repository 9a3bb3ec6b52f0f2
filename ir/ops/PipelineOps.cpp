//===- PipelineOps.cpp - Pipeline stages of a program -----------------------------------------===//

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace mtc;

LogicalResult MessageOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (static_cast<int64_t>(getStage()) < 0 || static_cast<int64_t>(getChannel()) < 0)
    return emitOpError("has the stage ")
           << static_cast<int64_t>(getStage()) << " and the channel "
           << static_cast<int64_t>(getChannel()) << ", expected at least 0 (message_c2)";
  if (getVariables().empty())
    return emitOpError("has no variables (message_c1)");
  std::optional<int64_t> copies;
  for (auto symbol : getVariables().getAsRange<FlatSymbolRefAttr>()) {
    auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(*this, symbol);
    if (!variable || variable.getRole() != Role::Slot)
      return emitOpError("has ") << symbol << ", which is no slot (message_c1)";
    const auto own = static_cast<int64_t>(variable.getCopies());
    if (copies.value_or(own) != own)
      return emitOpError("has slots with ")
             << *copies << " and " << own << " copies, expected equally many (message_c1)";
    copies = own;
  }
  return success();
}

LogicalResult TaskAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, TaskKind kind,
                               int64_t message, FlatSymbolRefAttr function, int64_t micro) {
  if (message < 0 || micro < 0)
    return emitError() << "has the message " << message << " and the micro-step " << micro
                       << ", expected at least 0 (task_c1)";
  if ((kind == TaskKind::Run) != bool(function))
    return emitError() << (function ? "has a function, but is no run (task_c1)"
                                    : "runs no function (task_c1)");
  return success();
}

LogicalResult TasksOp::verify() {
  const auto messages = llvm::range_size((*this)->getParentOfType<ModuleOp>().getOps<MessageOp>());
  for (auto task : getTasks().getAsRange<TaskAttr>())
    if ((task.getKind() == TaskKind::Start || task.getKind() == TaskKind::Wait) &&
        task.getMessage() >= static_cast<int64_t>(messages))
      return emitOpError("has message ")
             << task.getMessage() << " of " << messages << " (tasks_c1)";
  return success();
}
