//===- SharedOperations.cpp - Operations of several pipeline stages ---------------------------===//

#include "passes/pipeline/SharedOperations.h"

#include "ir/steps/VariableAccess.h"

using namespace mlir;
using namespace mtc;

bool mtc::isOfAllStages(VariableOp variable) {
  const Role role = variable.getRole();
  return role == Role::Scalar || role == Role::Constant ||
         (role == Role::Optimizer && !variable.getOf());
}

SharedOperations::SharedOperations(func::FuncOp function) {
  Block &block = function.front();
  SymbolTable symbols(function->getParentOfType<ModuleOp>());
  const VariableAccesses accesses(block);
  for (Operation &op : block.without_terminator()) {
    SmallVector<StringAttr, 1> read;
    if (auto access = dyn_cast<ReadOp>(op)) {
      // The value depends on when it is read.
      if (!accesses.writersOf(access.getVariableAttr()).empty())
        continue;
      if (!isOfAllStages(symbols.lookup<VariableOp>(access.getVariable())))
        read.push_back(access.getVariableAttr().getAttr());
    } else if ((!isMemoryEffectFree(&op) && !isa<OwnPieceOp>(op)) || op.getNumRegions() ||
               isa<LibraryCallOpInterface>(op) || isa<ScanOp>(op)) {
      continue;
    }
    if (llvm::any_of(op.getOperands(), [&](Value operand) {
          return operand.getDefiningOp() && !variables.contains(operand.getDefiningOp());
        }))
      continue;
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp())
        for (StringAttr name : variables.lookup(producer))
          if (!llvm::is_contained(read, name))
            read.push_back(name);
    if (isa<GatherOp>(op) && !read.empty())
      continue; // A lookup of a variable's rows is work of its stage.
    variables.try_emplace(&op, std::move(read));
  }
}

ArrayRef<StringAttr> SharedOperations::variablesOf(Operation *op) const {
  return variables.find(op)->second;
}

MicroStepParts::MicroStepParts(func::FuncOp microStep) {
  SymbolTable symbols(microStep->getParentOfType<ModuleOp>());
  Block &block = microStep.front();
  SmallVector<Operation *> needed;
  auto need = [&](Operation *op) {
    if (op && forward.insert(op).second)
      needed.push_back(op);
  };
  for (Value result : block.getTerminator()->getOperands())
    need(result.getDefiningOp());
  for (Operation &op : block)
    for (FlatSymbolRefAttr written : writtenVariables(&op))
      if (symbols.lookup<VariableOp>(written.getValue()).getRole() != Role::Gradient)
        need(&op);
  while (!needed.empty())
    for (Value operand : needed.pop_back_val()->getOperands())
      need(operand.getDefiningOp());
}

VariableOp mtc::rootOfVariable(SymbolTable &symbols, StringAttr name) {
  auto variable = symbols.lookup<VariableOp>(name);
  while (variable && variable.getOf())
    variable = symbols.lookup<VariableOp>(*variable.getOf());
  return variable;
}
