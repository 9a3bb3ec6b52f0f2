//===- ParameterUses.cpp - Roles of parameters in a network -----------------------------------===//

#include "passes/optimizer/ParameterUses.h"

#include "ir/ReservedNames.h"
#include "passes/GraphSignature.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mtc;

StringRef ParameterUses::findVariable(Value value) const {
  while (true) {
    if (Value outer = captured.lookup(value)) {
      value = outer;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto read = dyn_cast_or_null<ReadOp>(op)) {
      auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(op, read.getVariableAttr());
      return variable.getRole() == Role::Copy ? *variable.getOf() : variable.getSymName();
    }
    // One rank computes chunks of a contraction from slices of the parameter.
    if (!op || (!op->hasTrait<mtc::View>() && !isa<TransposeOp, CastOp, JoinHalvesOp, SliceOp>(op)))
      return "";
    value = op->getOperand(0);
  }
}

ParameterUses::ParameterUses(ModuleOp module) {
  for (auto step : module.getOps<func::FuncOp>()) {
    if (!isMicroStep(step.getSymName()))
      continue;
    hasStep = true;
    addUses(step.front());
    if (std::optional<unsigned> loss = findResult(step, lossName))
      findHeads(step.front().getTerminator()->getOperand(*loss));
  }
}

void ParameterUses::addUses(Block &block) {
  for (Operation &op : block)
    if (auto gather = dyn_cast<GatherOp>(op)) {
      embeddings.insert(findVariable(gather.getInput()));
    } else if (isa<ContractOp>(op)) {
      for (Value operand : op.getOperands())
        factors.insert(findVariable(operand));
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      Block &body = scan.lookUpBody().front();
      for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), scan->getOperands()))
        captured.try_emplace(argument, operand);
      addUses(body);
    }
}

void ParameterUses::findHeads(Value loss) {
  SmallVector<Value> pending = {loss};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!value || !seen.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    if (!op) {
      pending.push_back(captured.lookup(value));
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      Operation *end = scan.lookUpBody().front().getTerminator();
      pending.push_back(end->getOperand(cast<OpResult>(value).getResultNumber()));
    } else if (isa<ContractOp, ConvolveOp>(op)) {
      for (Value operand : op->getOperands())
        heads.insert(findVariable(operand));
    } else {
      llvm::append_range(pending, op->getOperands());
    }
  }
}
