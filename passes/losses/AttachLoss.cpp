//===- AttachLoss.cpp - Creation of the micro-step and evaluation functions -------------------===//

#include "ir/ReservedNames.h"
#include "passes/GraphSignature.h"
#include "passes/Passes.h"
#include "passes/losses/LossPlan.h"
#include "passes/losses/MicroSteps.h"
#include "runtime/abi/input_names.h"
#include "runtime/abi/row_values.h"

namespace mtc {
#define GEN_PASS_DEF_ATTACHLOSS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct AttachLossPass : PassWithOptions<mtc::impl::AttachLossBase<AttachLossPass>, LossOptions> {
  using PassWithOptions::PassWithOptions;
  void runOnOperation() override;
};

/// A result of a function under construction.
struct Result {
  Value value;
  std::string name;
};

} // namespace

/// Returns the argument of this name, which is added with a type if the function has none; null
/// without a type.
static Value attachInput(func::FuncOp function, StringRef name, RankedTensorType type) {
  Builder b(function.getContext());
  std::optional<unsigned> index = findArgument(function, name);
  if (!index && !type)
    return nullptr;
  if (!index) {
    index = function.getNumArguments();
    auto named = b.getDictionaryAttr(b.getNamedAttr(nameAttribute, b.getStringAttr(name)));
    if (failed(function.insertArgument(*index, type, named, function.getLoc())))
      llvm_unreachable("an argument can be appended to any function with a body");
  }
  return function.getArgument(*index);
}

/// Builds the weighted mean over the targets; 0/0 if all are ignored, as in PyTorch.
static Value mean(TensorBuilder &b, const LossTerms &terms) {
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(shapeOf(terms.losses).size()));
  Value total = b.sum(terms.losses, axes);
  Value count = terms.weights ? b.sum(terms.weights, axes)
                              : b.splat(total, typeOf(terms.losses).getNumElements());
  return b.div(total, count);
}

/// Builds the sums over each sample: [batch] f32.
static Value rowSums(TensorBuilder &b, Value x) {
  int64_t rank = shapeOf(x).size();
  Value sums = rank == 1 ? x : b.sum(x, llvm::to_vector(llvm::seq<int64_t>(1, rank)));
  return b.cast(sums, b.getF32Type());
}

/// Multiplies the losses of each sample, and their weights, by the sample's weight.
static LossTerms weightSamples(TensorBuilder &b, const LossTerms &terms, Value weights) {
  ArrayRef<int64_t> shape = shapeOf(terms.losses);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(1, shape.size()));
  weights = b.cast(weights, typeOf(terms.losses).getElementType());
  if (!axes.empty())
    weights = b.broadcast(weights, axes, shape);
  return {b.mul(terms.losses, weights), terms.weights ? b.mul(terms.weights, weights) : weights};
}

/// Returns a result before its rounding to 16 bits, which is precise enough for an output but not
/// for a loss.
static Value beforeRounding(Value result) {
  auto cast = result.getDefiningOp<CastOp>();
  bool isRounded = cast && typeOf(cast.getInput()).getElementType().isF32() &&
                   elementBytes(typeOf(result).getElementType()) == 2;
  return isRounded ? cast.getInput() : result;
}

/// Builds the loss, and for evaluation the contributions of each sample.
static SmallVector<Result> buildLoss(TensorBuilder &b, const LossPlan &plan, Value output,
                                     Value labels, Value lengths, Value sampleWeights,
                                     bool evaluates) {
  if (plan.takesLogits)
    output = findActivation(output)->buildLogits(b);
  output = b.cast(output, lossElement(typeOf(output).getElementType()));
  const bool isPart = !evaluates && plan.microSteps > 1;
  if (!plan.loss) {
    Value loss = b.reshape(output, {});
    return {{isPart ? buildPartOfLoss(b, loss, plan.microSteps) : loss, lossName.str()}};
  }
  if (!plan.loss->classifies)
    labels = b.cast(labels, typeOf(output).getElementType());
  LossInputs inputs{output, labels, plan.layout, lengths, plan.parameters};
  LossTerms unweighted = plan.loss->build(b, inputs);
  LossTerms terms = sampleWeights ? weightSamples(b, unweighted, sampleWeights) : unweighted;
  Value loss = isPart ? buildPartOfLoss(b, terms, plan.microSteps, plan.hasShapes) : mean(b, terms);
  SmallVector<Result> results = {{loss, lossName.str()}};
  if (!evaluates)
    return results;
  auto weightsOf = [&](const LossTerms &of) {
    return of.weights ? of.weights : b.splat(of.losses, 1.0);
  };
  SmallVector<RowValue> values = {{abi::rowLoss, terms.losses}, {abi::rowWeight, weightsOf(terms)}};
  if (plan.loss->buildMetrics)
    plan.loss->buildMetrics(b, inputs, unweighted, values);
  auto isTargets = [](const RowValue &row) { return row.name == abi::rowTargets; };
  if (sampleWeights && llvm::none_of(values, isTargets))
    values.push_back({abi::rowTargets, weightsOf(unweighted)});
  for (const RowValue &row : values) {
    bool isSummed = isDifferentiable(row.value.getType()) && !abi::isKept(row.name);
    results.push_back(
        {isSummed ? rowSums(b, row.value) : row.value, (Twine(abi::rowPrefix) + row.name).str()});
  }
  return results;
}

static void setResults(func::FuncOp function, ArrayRef<Result> results) {
  Builder b(function.getContext());
  SmallVector<Value> values;
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  for (const Result &result : results) {
    values.push_back(result.value);
    types.push_back(result.value.getType());
    attributes.push_back(
        b.getDictionaryAttr(b.getNamedAttr(nameAttribute, b.getStringAttr(result.name))));
  }
  function.front().getTerminator()->setOperands(values);
  function.setType(b.getFunctionType(function.getArgumentTypes(), types));
  function.setResAttrsAttr(b.getArrayAttr(attributes));
}

/// Erases writes: only training updates running statistics.
static void eraseWrites(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(function.front()))
    if (isa<WriteOp, WriteFlatOp>(op))
      op.erase();
}

static func::FuncOp copyForward(func::FuncOp forward, StringRef name) {
  OpBuilder builder(forward);
  auto function = cast<func::FuncOp>(builder.clone(*forward));
  function.setName(name);
  return function;
}

/// Creates a copy of @forward that returns the model's outputs. It is a separate function because
/// the loss does not need complete outputs.
static void makeOutputs(func::FuncOp forward) {
  func::FuncOp function = copyForward(forward, outputsName);
  function->setAttr(separateArenaAttribute, UnitAttr::get(forward.getContext()));
  eraseWrites(function);
  SmallVector<Result> results;
  for (auto [i, value] : llvm::enumerate(function.front().getTerminator()->getOperands()))
    results.push_back({value, resultName(forward, i).str()});
  setResults(function, results);
}

/// Creates a copy of @forward that returns the loss.
static func::FuncOp makeFunction(func::FuncOp forward, StringRef name, const LossPlan &plan,
                                 bool evaluates) {
  func::FuncOp function = copyForward(forward, name);
  Value labels = attachInput(function, plan.labels, plan.labelType);
  Value lengths = attachInput(function, plan.inputLengths, plan.lengthsType);
  Value weights = attachInput(function, lossWeightsName, plan.lossWeights);
  Operation *terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  StringRef lossName = plan.loss ? StringRef(plan.loss->name) : "output";
  TensorBuilder b(NameLoc::get(builder.getStringAttr("loss " + lossName)), builder);
  SmallVector<Result> results =
      buildLoss(b, plan, beforeRounding(terminator->getOperand(plan.output)), labels, lengths,
                plan.lossWeights ? weights : Value(), evaluates);
  if (evaluates)
    eraseWrites(function);
  else if (plan.microSteps > 1)
    numberRandomBits(function, plan.microSteps);
  setResults(function, results);
  return function;
}

/// Emits remarks about differences between micro-steps and one large batch.
static void remarkOnMicroSteps(func::FuncOp forward, const LossPlan &plan) {
  if (plan.microSteps == 1)
    return;
  Location unknown = UnknownLoc::get(forward.getContext());
  if (!plan.loss)
    emitRemark(unknown, "--accumulate: the loss is the mean of output '")
        << resultName(forward, plan.output) << "' over its " << plan.microSteps
        << " micro-batches; equal to the loss of one large batch if it is a mean over samples";
  if (!forward.front().getOps<WriteOp>().empty())
    emitRemark(unknown, "--accumulate: statistics and other state are updated from each of the ")
        << plan.microSteps << " micro-batches, not from the whole batch";
}

/// Records the inputs and the loss in the module's program.
static void describe(func::FuncOp microStep, const LossPlan &plan) {
  Builder b(microStep.getContext());
  ProgramOp program = ProgramOp::findOrAdd(microStep->getParentOfType<ModuleOp>());
  program.setLoss(plan.loss ? StringRef(plan.loss->name) : "output");
  for (unsigned i = 0; i < microStep.getNumArguments(); ++i)
    program.findOrAddInput(argumentName(microStep, i));
  InputOp labels = program.findInput(plan.labels);
  if (!labels)
    return;
  labels.setLabel(true);
  if (plan.layout.limit > 0)
    labels.setIndicesAttr(IndexRangeAttr::get(b.getContext(), plan.layout.minimum,
                                              plan.layout.limit, plan.parameters.ignoredLabel,
                                              /*user=*/"the loss"));
  if (plan.lossWeights)
    program.findInput(lossWeightsName).setLabel(true);
  if (!plan.shiftedFrom.empty())
    labels.setShiftedFrom(plan.shiftedFrom);
  if (!plan.loss || !plan.loss->hasSequences)
    return;
  labels->setAttr(paddedAttribute, b.getUnitAttr());
  InputOp lengths = program.findInput(plan.inputLengths);
  if (!lengths)
    return;
  // A new input is read by the loss only, as labels are.
  if (plan.lengthsType) {
    lengths.setLabel(true);
    lengths->setAttr(paddedAttribute, b.getUnitAttr());
  }
  int64_t frames = plan.outputType.getDimSize(1 - plan.layout.batchAxis);
  lengths.setIndicesAttr(IndexRangeAttr::get(b.getContext(), /*minimum=*/0, frames + 1,
                                             /*ignored=*/0, /*user=*/"the loss"));
}

void AttachLossPass::runOnOperation() {
  FailureOr<LossOptions> options = readOptions();
  if (failed(options))
    return signalPassFailure();
  ModuleOp module = getOperation();
  auto forward = module.lookupSymbol<func::FuncOp>(forwardName);
  if (!forward || !forward.getBody().hasOneBlock()) {
    emitError(module.getLoc(), "the module has no single-block function @forward");
    return signalPassFailure();
  }
  FailureOr<LossPlan> plan = planLoss(forward, *options);
  if (failed(plan))
    return signalPassFailure();
  remarkOnMicroSteps(forward, *plan);
  func::FuncOp microStep = makeFunction(forward, microStepName, *plan, /*evaluates=*/false);
  makeFunction(forward, evaluateName, *plan, /*evaluates=*/true);
  makeOutputs(forward);
  describe(microStep, *plan);
  forward.erase();
}

std::unique_ptr<Pass> mtc::createAttachLoss(const LossOptions &options) {
  return std::make_unique<AttachLossPass>(options);
}
