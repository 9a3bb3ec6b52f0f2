//===- VariableLayout.cpp - Places of what outlives a step ------------------------------------===//

#include "passes/memory/VariableLayout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mtc;

namespace {

class VariableLayouter {
public:
  explicit VariableLayouter(ModuleOp module) : symbols(module), module(module) {}

  FailureOr<int64_t> run() {
    WalkResult result = module.walk([&](Operation *op) -> WalkResult {
      if (auto read = dyn_cast<ReadFlatOp>(op))
        return placeGroup(op, read.getVariables());
      if (auto write = dyn_cast<WriteFlatOp>(op))
        return placeGroup(op, write.getVariables());
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    for (VariableOp variable : module.getOps<VariableOp>())
      place(variable);
    return size;
  }

private:
  void place(VariableOp variable) {
    if (variable.getOffset() || variable->hasAttr(transientAttribute))
      return;
    variable.setOffset(size);
    size += paddedBytes(byteSize(variable.getTensorType()));
  }

  LogicalResult placeGroup(Operation *user, ArrayAttr group) {
    int64_t expected = -1;
    for (auto symbol : group.getAsRange<FlatSymbolRefAttr>()) {
      auto variable = symbols.lookup<VariableOp>(symbol.getValue());
      place(variable);
      if (expected >= 0 && static_cast<int64_t>(*variable.getOffset()) != expected)
        return user->emitOpError("needs ")
               << symbol << " behind its predecessor, where another flat tensor does not have it";
      expected = *variable.getOffset() + paddedBytes(byteSize(variable.getTensorType()));
    }
    return success();
  }

  SymbolTable symbols;
  ModuleOp module;
  int64_t size = 0;
};

} // namespace

FailureOr<int64_t> mtc::layOutVariables(ModuleOp module) { return VariableLayouter(module).run(); }

void mtc::moveConstantsToVariables(ModuleOp module) {
  SymbolTable symbols(module);
  DenseMap<Attribute, VariableOp> known;
  SmallVector<mtc::ConstantOp> constants;
  for (auto function : module.getOps<func::FuncOp>())
    function.walk([&](mtc::ConstantOp op) { constants.push_back(op); });
  for (mtc::ConstantOp op : constants) {
    VariableOp &variable = known[op.getValue()];
    if (!variable) {
      OpBuilder builder(module.getContext());
      variable =
          VariableOp::create(builder, op.getLoc(), Role::Constant, "mtc.constant", op.getType(),
                             op.getValue(), FlatSymbolRefAttr(), StringAttr(), IntegerAttr());
      symbols.insert(variable, module.getBody()->begin());
    }
    OpBuilder builder(op);
    op.replaceAllUsesWith(
        ReadOp::create(builder, op.getLoc(), op.getType(), variable.getSymName()).getResult());
    op.erase();
  }
}
