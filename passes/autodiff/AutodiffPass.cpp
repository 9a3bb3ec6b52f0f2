//===- AutodiffPass.cpp - Gradients of all parameters -----------------------------------------===//

#include "ir/NodeNames.h"
#include "ir/ReservedNames.h"
#include "ir/builders/TensorBuilder.h"
#include "passes/GraphSignature.h"
#include "passes/Passes.h"
#include "passes/autodiff/Accumulation.h"
#include "passes/autodiff/Autodiff.h"

namespace mtc {
#define GEN_PASS_DEF_AUTODIFF
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct Parameter {
  VariableOp variable;
  SmallVector<Value> reads;
};

struct AutodiffPass : mtc::impl::AutodiffBase<AutodiffPass> {
  using AutodiffBase::AutodiffBase;
  void runOnOperation() override;

private:
  FailureOr<SmallVector<Parameter>> findParameters(func::FuncOp function);
  Value buildCotangent(func::FuncOp function, Value loss);
  void deliver(func::FuncOp function, const Parameter &parameter, ArrayRef<Value> gradients,
               SymbolTable &symbols);
};

} // namespace

FailureOr<SmallVector<Parameter>> AutodiffPass::findParameters(func::FuncOp function) {
  SmallVector<Parameter> parameters;
  llvm::StringMap<unsigned> byName;
  for (auto variable : getOperation().getOps<VariableOp>()) {
    if (variable.getRole() != Role::Parameter)
      continue;
    if (!isDifferentiable(variable.getTensorType()))
      return emitError(variable.getLoc(), "parameter '")
             << variable.getSymName() << "' is " << print(variable.getTensorType())
             << "; expected a floating-point tensor. Use --freeze to exclude it";
    byName[variable.getSymName()] = parameters.size();
    parameters.push_back({variable, {}});
  }
  if (parameters.empty())
    return emitError(function.getLoc(),
                     "the model has no parameters to train; use --train to select initializers");
  for (auto read : function.front().getOps<ReadOp>())
    if (auto found = byName.find(read.getVariable()); found != byName.end())
      parameters[found->second].reads.push_back(read.getResult());
  return parameters;
}

/// Returns the cotangent of the loss: 1, or the loss scale of the program.
Value AutodiffPass::buildCotangent(func::FuncOp function, Value loss) {
  OpBuilder builder(function.front().getTerminator());
  TensorBuilder b(backwardLocation(loss.getLoc()), builder);
  ProgramOp program = ProgramOp::find(getOperation());
  if (!program || !program.getLossScaling())
    return b.splat(loss, 1.0);
  auto type = RankedTensorType::get({}, b.getF32Type());
  Value scale = b.cast(b.create<ReadOp>(type, lossScaleName), typeOf(loss).getElementType());
  return b.reshape(scale, shapeOf(loss));
}

/// Returns the sum of the reads' gradients, built right after the last of them; zeros if there are
/// none.
static Value total(func::FuncOp function, const Parameter &parameter, ArrayRef<Value> gradients,
                   Location location) {
  // Reads are differentiated in reverse order, so the gradient of an earlier read is complete
  // later.
  SmallVector<Value> known =
      llvm::filter_to_vector(gradients, [](Value each) { return bool(each); });
  if (!known.empty())
    return sumWhereKnown(known, location);
  OpBuilder builder(function.front().getTerminator());
  VariableOp variable = parameter.variable;
  return TensorBuilder(location, builder).splat(variable.getTensorType(), 0.0);
}

void AutodiffPass::deliver(func::FuncOp function, const Parameter &parameter,
                           ArrayRef<Value> gradients, SymbolTable &symbols) {
  VariableOp variable = parameter.variable;
  StringAttr name = variable.getSymNameAttr();
  OpBuilder builder(&getContext());
  auto gradientVariable = VariableOp::create(
      builder, variable.getLoc(), Role::Gradient, (name.getValue() + ".grad").str(),
      variable.getType(), ZerosAttr::get(&getContext()), FlatSymbolRefAttr::get(name));
  StringAttr gradientName = symbols.insert(gradientVariable, function->getIterator());

  Location location = backwardLocation(NameLoc::get(name));
  ProgramOp program = ProgramOp::find(getOperation());
  // The gradients of the ranks may be added to the sum in each micro-step.
  if (program && program.getMicroSteps() > 1 && (!program.getRanks() || program.reducesInUpdate()))
    return accumulate(gradients, gradientVariable, location);
  Value gradient = total(function, parameter, gradients, location);
  builder.setInsertionPointAfterValue(gradient);
  WriteOp::create(builder, location, gradientName, gradient);
}

void AutodiffPass::runOnOperation() {
  auto function = getOperation().lookupSymbol<func::FuncOp>(microStepName);
  std::optional<unsigned> result = function ? findResult(function, lossName) : std::nullopt;
  if (!result) {
    emitError(getOperation().getLoc(), "the module has no function @micro_step with a result named "
                                       "'mtc.loss'; run mtc-attach-loss first");
    return signalPassFailure();
  }
  FailureOr<SmallVector<Parameter>> parameters = findParameters(function);
  if (failed(parameters))
    return signalPassFailure();
  function.setResultAttr(*result, differentiatedAttribute, UnitAttr::get(&getContext()));

  SmallVector<Value> wrt, gradients;
  for (const Parameter &parameter : *parameters)
    llvm::append_range(wrt, parameter.reads);
  Value loss = function.front().getTerminator()->getOperand(*result);
  Value cotangent = buildCotangent(function, loss);
  if (failed(differentiate(function, {loss}, {cotangent}, wrt, gradients)))
    return signalPassFailure();

  SymbolTable symbols(getOperation());
  SmallVector<StringRef> unused;
  bool isAnyUsed = false;
  ArrayRef<Value> rest = gradients;
  for (const Parameter &parameter : *parameters) {
    ArrayRef<Value> own = rest.take_front(parameter.reads.size());
    rest = rest.drop_front(own.size());
    bool isUsed = llvm::any_of(own, [](Value gradient) { return bool(gradient); });
    isAnyUsed |= isUsed;
    // No value depends on a parameter without elements.
    bool isEmpty = llvm::any_of(parameter.reads, [](Value read) {
      return cast<ShapedType>(read.getType()).getNumElements() == 0;
    });
    if (!isUsed && !isEmpty)
      unused.push_back(VariableOp(parameter.variable).getSymName());
    deliver(function, parameter, own, symbols);
  }
  if (!isAnyUsed) {
    emitError(function.getLoc(),
              "the loss depends on no parameter; use --output to select its output");
    return signalPassFailure();
  }
  if (!unused.empty())
    emitWarning(function.getLoc(),
                "the loss does not depend on these parameters, whose gradients are zero: ")
        << llvm::join(unused, ", ");
}
