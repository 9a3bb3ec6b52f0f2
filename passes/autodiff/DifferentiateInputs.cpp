//===- DifferentiateInputs.cpp - Inputs as values to differentiate by -------------------------===//

#include "ir/ReservedNames.h"
#include "passes/GraphSignature.h"
#include "passes/Passes.h"

namespace mtc {
#define GEN_PASS_DEF_DIFFERENTIATEINPUTS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct DifferentiateInputsPass : mtc::impl::DifferentiateInputsBase<DifferentiateInputsPass> {
  using DifferentiateInputsBase::DifferentiateInputsBase;
  void runOnOperation() override;

private:
  LogicalResult differentiate(func::FuncOp function, StringRef name, SymbolTable &symbols);
};

} // namespace

LogicalResult DifferentiateInputsPass::differentiate(func::FuncOp function, StringRef name,
                                                     SymbolTable &symbols) {
  Location location = UnknownLoc::get(&getContext());
  std::optional<unsigned> index = findArgument(function, name);
  if (!index) {
    SmallVector<StringRef> names;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      names.push_back(argumentName(function, i));
    return emitError(location, "input '") << name << "' to differentiate by: the graph has no such "
                                          << "input; expected one of: " << llvm::join(names, ", ");
  }
  BlockArgument argument = function.getArgument(*index);
  if (!isDifferentiable(argument.getType()))
    return emitError(location, "input '")
           << name << "' to differentiate by is " << print(argument.getType())
           << "; expected floating-point elements";
  if (symbols.lookup(name))
    return emitError(location, "input '") << name << "' to differentiate by: the name is reserved "
                                          << "for programs; rename the input";
  OpBuilder builder(&getContext());
  symbols.insert(VariableOp::create(builder, location, Role::Parameter, name, argument.getType(),
                                    ZerosAttr::get(&getContext())),
                 function->getIterator());
  builder.setInsertionPointToStart(&function.front());
  argument.replaceAllUsesWith(ReadOp::create(builder, argument.getLoc(), argument.getType(), name));
  return success();
}

void DifferentiateInputsPass::runOnOperation() {
  if (inputs.empty())
    return;
  auto function = getOperation().lookupSymbol<func::FuncOp>(microStepName);
  if (!function) {
    emitError(getOperation().getLoc(),
              "the module has no function @micro_step; run mtc-attach-loss first");
    return signalPassFailure();
  }
  SymbolTable symbols(getOperation());
  for (const std::string &name : inputs)
    if (failed(differentiate(function, name, symbols)))
      signalPassFailure();
}
