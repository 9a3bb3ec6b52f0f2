//===- ParameterUses.cpp - Roles of parameters in a network -----------------------------------===//

#include "passes/optimizer/ParameterUses.h"

#include "ir/ReservedNames.h"
#include "passes/GraphSignature.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mtc;

/// Returns the parameter that a value was read from, through views, transpositions and casts; "" if
/// there is none.
static StringRef findVariable(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(op, read.getVariableAttr());
      return variable.getRole() == Role::Copy ? *variable.getOf() : variable.getSymName();
    }
    if (!op->hasTrait<mtc::View>() && !isa<TransposeOp, CastOp, JoinHalvesOp>(op))
      break;
    value = op->getOperand(0);
  }
  return "";
}

ParameterUses::ParameterUses(ModuleOp module) {
  auto step = module.lookupSymbol<func::FuncOp>(microStepName);
  if (!step)
    return;
  hasStep = true;
  for (Operation &op : step.front())
    if (auto gather = dyn_cast<GatherOp>(op))
      embeddings.insert(findVariable(gather.getInput()));
    else if (isa<ContractOp>(op))
      for (Value operand : op.getOperands())
        factors.insert(findVariable(operand));
  if (std::optional<unsigned> loss = findResult(step, lossName))
    findHeads(step.front().getTerminator()->getOperand(*loss));
}

void ParameterUses::findHeads(Value loss) {
  SmallVector<Value> pending = {loss};
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (!isa<ContractOp, ConvolveOp>(op)) {
      llvm::append_range(pending, op->getOperands());
      continue;
    }
    for (Value operand : op->getOperands())
      heads.insert(findVariable(operand));
  }
}
