//===- OutlineConstants.cpp - Outlines constants into variables -------------------------------===//

#include "passes/Passes.h"

namespace mtc {
#define GEN_PASS_DEF_OUTLINECONSTANTS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct OutlineConstants : mtc::impl::OutlineConstantsBase<OutlineConstants> {
  void runOnOperation() override {
    variables.clear();
    SymbolTable symbols(getOperation());
    SmallVector<mtc::ConstantOp> constants;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](mtc::ConstantOp op) { constants.push_back(op); });
    for (mtc::ConstantOp op : constants) {
      VariableOp variable = variableOf(op, symbols);
      OpBuilder builder(op);
      op.replaceAllUsesWith(
          ReadOp::create(builder, op.getLoc(), op.getType(), variable.getSymName()).getResult());
      op.erase();
    }
  }

private:
  VariableOp variableOf(mtc::ConstantOp op, SymbolTable &symbols) {
    VariableOp &variable = variables[op.getValue()];
    if (!variable) {
      OpBuilder builder(&getContext());
      variable = VariableOp::create(builder, op.getLoc(), Role::Constant, "mtc.constant",
                                    op.getType(), op.getValue());
      symbols.insert(variable, getOperation().getBody()->begin());
    }
    return variable;
  }

  DenseMap<Attribute, VariableOp> variables; // By value: equal constants share a variable.
};

} // namespace
