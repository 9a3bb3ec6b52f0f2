//===- Stages.cpp - The modules of a program's pipeline stages --------------------------------===//

#include "passes/pipeline/Stages.h"

#include "ir/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mtc;

SmallVector<ModuleOp> mtc::stagesOf(ModuleOp program) {
  SmallVector<ModuleOp> stages(program.getOps<ModuleOp>());
  if (stages.empty())
    stages.push_back(program);
  return stages;
}

void mtc::shareScalars(ArrayRef<ModuleOp> stages) {
  llvm::MapVector<StringAttr, VariableOp> scalars;
  for (ModuleOp stage : stages)
    for (auto variable : stage.getOps<VariableOp>())
      if (variable.getRole() == Role::Scalar)
        scalars.insert({variable.getSymNameAttr(), variable});
  for (ModuleOp stage : stages) {
    SymbolTable symbols(stage);
    auto functions = stage.getOps<mlir::func::FuncOp>();
    for (auto [name, variable] : scalars)
      if (!symbols.lookup(name))
        symbols.insert(variable->clone(), (*functions.begin())->getIterator());
  }
}

ModuleOp mtc::largestStageOf(ModuleOp program) {
  const SmallVector<ModuleOp> stages = stagesOf(program);
  return *llvm::max_element(stages, [](ModuleOp a, ModuleOp b) {
    return ArenaOp::find(a).getSize() < ArenaOp::find(b).getSize();
  });
}
