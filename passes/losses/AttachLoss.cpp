//===- AttachLoss.cpp - Creation of the micro-step and evaluation functions -------------------===//

#include "ir/NodeNames.h"
#include "ir/ReservedNames.h"
#include "passes/GraphSignature.h"
#include "passes/Passes.h"
#include "passes/losses/Loss.h"
#include "passes/losses/LossChoice.h"
#include "passes/losses/MicroSteps.h"
#include "runtime/abi/row_values.h"

namespace mtc {
#define GEN_PASS_DEF_ATTACHLOSS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Properties of the loss that @micro_step and @evaluate share.
struct Plan {
  const Loss *loss = nullptr; // Null for the graph's own output.
  LossParameters parameters;
  unsigned output = 0;
  RankedTensorType outputType;
  std::string labels;
  RankedTensorType labelType; // Null if the loss has no labels.
  LabelLayout layout;
  std::string inputLengths;     // Empty if all samples have all frames.
  RankedTensorType lengthsType; // Of an input that the graph has not; null otherwise.
  bool takesLogits = false;     // The output is an activation; the loss reads its logits.
  std::string shiftedFrom;
  int64_t microSteps = 1;
};

struct AttachLossPass : PassWithOptions<mtc::impl::AttachLossBase<AttachLossPass>, LossOptions> {
  using PassWithOptions::PassWithOptions;
  void runOnOperation() override;

private:
  FailureOr<Plan> makePlan(func::FuncOp forward);
  FailureOr<Plan> planLabels(func::FuncOp forward, Plan plan);
  LogicalResult checkUsed(func::FuncOp forward, const Plan &plan);
  LogicalResult checkParameters(func::FuncOp forward, Plan &plan);
  LogicalResult planLengths(func::FuncOp forward, Plan &plan);
  bool chooseLogits(func::FuncOp forward, const Plan &plan);

  LossOptions options;
};

/// A result of a function under construction.
struct Result {
  Value value;
  std::string name;
};

} // namespace

/// Losses are computed in f32, or in f64 for f64 models.
static Type lossElement(Type element) {
  return element.isF64() ? element : Float32Type::get(element.getContext());
}

FailureOr<Plan> AttachLossPass::makePlan(func::FuncOp forward) {
  std::string question;
  FailureOr<LossChoice> choice = chooseLoss(forward, options.loss, options.output, question);
  if (failed(choice))
    return emitError(forward.getLoc(), question);
  if (options.loss.empty())
    emitRemark(UnknownLoc::get(&getContext()), "the loss is ")
        << choice->loss << "; use --loss to choose another";
  Plan plan;
  plan.loss = findLoss(choice->loss);
  plan.parameters = options.parameters;
  plan.output = choice->output;
  plan.outputType = cast<RankedTensorType>(forward.getResultTypes()[plan.output]);
  plan.labels = options.labels.empty() ? "labels" : options.labels;
  ProgramOp program = ProgramOp::find(getOperation());
  plan.microSteps = options.microSteps * (program ? program.getRankCount() : 1);
  if (plan.loss)
    return planLabels(forward, plan);
  if (failed(checkUsed(forward, plan)))
    return failure();
  if (!options.labels.empty() && !findArgument(forward, options.labels))
    return emitError(forward.getLoc(), "--labels: the graph has no input '")
           << options.labels << "'; the loss is output '" << resultName(forward, plan.output)
           << "', which has no labels";
  return plan;
}

/// Reports each given parameter that the loss does not use, with the losses that use it.
LogicalResult AttachLossPass::checkUsed(func::FuncOp forward, const Plan &plan) {
  bool isValid = true;
  plan.parameters.visitGiven([&](StringRef name, const std::string &value) {
    if (plan.loss && llvm::is_contained(plan.loss->parameters, name))
      return;
    isValid = false;
    SmallVector<StringRef> users;
    for (const Loss &loss : getLosses())
      if (llvm::is_contained(loss.parameters, name))
        users.push_back(loss.name);
    InFlightDiagnostic error = emitError(forward.getLoc(), "--") << name;
    if (!value.empty() && value.size() <= 40)
      error << ' ' << value;
    error << ": not used by the loss " << (plan.loss ? StringRef(plan.loss->name) : "output");
    if (plan.loss && llvm::is_contained(users, plan.loss->name))
      error << " with soft labels";
    else
      error << "; expected --loss " << llvm::join(users, " or ");
  });
  return success(isValid);
}

/// Reports parameters that do not fit the output or the labels.
LogicalResult AttachLossPass::checkParameters(func::FuncOp forward, Plan &plan) {
  RankedTensorType type = plan.outputType;
  std::string problem;
  if (plan.loss->checkParameters)
    problem = plan.loss->checkParameters(plan.parameters, type, plan.layout);
  if (!problem.empty())
    return emitError(forward.getLoc(), problem)
           << "; output '" << resultName(forward, plan.output) << "' is " << print(type);
  int64_t ignored = plan.parameters.ignoredLabel;
  bool isGiven = ignored != LossParameters().ignoredLabel;
  if (isGiven && !isRepresentable(ignored, plan.labelType.getElementType()))
    return emitError(forward.getLoc(), "--ignore-index ")
           << ignored << ": no value of the labels '" << plan.labels << "', which are "
           << print(plan.labelType);
  return success();
}

FailureOr<Plan> AttachLossPass::planLabels(func::FuncOp forward, Plan plan) {
  RankedTensorType type = plan.outputType, given;
  if (std::optional<unsigned> argument = findArgument(forward, plan.labels))
    given = cast<RankedTensorType>(forward.getArgumentTypes()[*argument]);
  bool areProbabilities = given && isDifferentiable(given) && given.getShape() == type.getShape();
  if (plan.loss->ofProbabilities && (plan.parameters.softLabels || areProbabilities))
    plan.loss = plan.loss->ofProbabilities;
  if (failed(checkUsed(forward, plan)))
    return failure();
  auto reject = [&](const Twine &expected) -> LogicalResult {
    InFlightDiagnostic error = emitError(forward.getLoc(), "--loss ")
                               << plan.loss->name << ": expected " << expected << ", but output '"
                               << resultName(forward, plan.output) << "' is " << print(type);
    if (given)
      error << " and the labels '" << plan.labels << "' are " << print(given);
    return error << "; choose another with --output"
                 << (given ? ", other labels with --labels," : "") << " or another loss";
  };

  std::string expected;
  FailureOr<LabelLayout> layout =
      plan.loss->layout({type, given, forward.getArgumentTypes(), plan.parameters}, expected);
  if (failed(layout))
    return reject(expected);
  if (given) {
    bool isInteger =
        isa<IntegerType>(given.getElementType()) && !given.getElementType().isInteger(1);
    if (plan.loss->classifies && !isInteger)
      return reject(plan.loss->ofProbabilities
                        ? "integer labels, or probabilities of the output's shape"
                        : "integer labels");
    if (!plan.loss->classifies && !isDifferentiable(given))
      return reject("floating-point labels");
  }
  Builder b(&getContext());
  plan.layout = *layout;
  plan.labelType =
      given ? given
            : RankedTensorType::get(layout->shape, plan.loss->classifies
                                                       ? Type(b.getI64Type())
                                                       : lossElement(type.getElementType()));
  if (failed(checkParameters(forward, plan)))
    return failure();
  if (plan.loss->hasSequences && failed(planLengths(forward, plan)))
    return failure();
  // The label of the last token is the ignored one.
  if (plan.loss->predictsNextToken &&
      isRepresentable(plan.parameters.ignoredLabel, plan.labelType.getElementType()))
    if (int64_t input = findTokenInput(forward, layout->shape, plan.labels); input >= 0)
      plan.shiftedFrom = argumentName(forward, input).str();
  plan.takesLogits = chooseLogits(forward, plan);
  return plan;
}

/// Chooses the input with the number of frames of each sample: the one that is named, which may be
/// new, or an input of the graph with the usual name.
LogicalResult AttachLossPass::planLengths(func::FuncOp forward, Plan &plan) {
  static constexpr StringLiteral usual = "input_lengths";
  const std::string &named = plan.parameters.inputLengths;
  std::string name = named.empty() ? usual.str() : named;
  Builder b(&getContext());
  auto type = RankedTensorType::get(plan.layout.shape.front(), b.getI64Type());
  std::optional<unsigned> argument = findArgument(forward, name);
  if (!argument && named.empty())
    return success();
  plan.inputLengths = name;
  if (!argument) {
    plan.lengthsType = type;
    return success();
  }
  auto given = cast<RankedTensorType>(forward.getArgumentTypes()[*argument]);
  if (isa<IntegerType>(given.getElementType()) && !given.getElementType().isInteger(1) &&
      given.getShape() == type.getShape()) {
    if (named.empty())
      emitRemark(UnknownLoc::get(&getContext()), "the number of frames of each sample is input '")
          << name << "'";
    return success();
  }
  return emitError(forward.getLoc(), "--input-lengths ")
         << name << ": input '" << name << "' is " << print(given)
         << "; expected integers of shape [" << type.getDimSize(0) << "]";
}

/// Whether the loss is computed from the logits of the output's activation, which is reported as a
/// remark. Warns about an activation that the loss does not apply itself, or not along the same
/// axis.
bool AttachLossPass::chooseLogits(func::FuncOp forward, const Plan &plan) {
  Value output = forward.front().getTerminator()->getOperand(plan.output);
  std::optional<ActivatedOutput> found;
  if (plan.loss->activation != OutputActivation::None)
    found = findActivation(output);
  if (!found)
    return false;
  Location unknown = UnknownLoc::get(&getContext());
  std::string node = nodeNames(found->op->getLoc()), input = nodeNames(found->input.getLoc());
  std::string text = ("output '" + resultName(forward, plan.output) + "' is a " + found->name +
                      (node.empty() ? "" : " (node '" + node + "')"))
                         .str();
  bool isSoftmax = found->activation == OutputActivation::Softmax;
  if (found->activation != plan.loss->activation) {
    emitWarning(unknown, text) << ", and --loss " << plan.loss->name << " applies a "
                               << (isSoftmax ? "sigmoid" : "softmax") << " to it; use --loss "
                               << (isSoftmax ? "cross-entropy" : "bce-with-logits")
                               << ", or select the logits with --output";
    return false;
  }
  if (isSoftmax && found->classAxis != plan.layout.classAxis) {
    emitWarning(unknown, text) << (found->classAxis < 0 ? " whose axis is sliced or reshaped"
                                                        : " along another axis")
                               << ", and --loss " << plan.loss->name
                               << " applies a softmax to its classes, axis "
                               << plan.layout.classAxis << "; select the logits with --output";
    return false;
  }
  emitRemark(unknown, text) << "; the loss " << plan.loss->name << " is computed from its input"
                            << (input.empty() ? "" : " '" + input + "'");
  return true;
}

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

/// Returns a result before its rounding to 16 bits, which is precise enough for an output but not
/// for a loss.
static Value beforeRounding(Value result) {
  auto cast = result.getDefiningOp<CastOp>();
  bool isRounded = cast && typeOf(cast.getInput()).getElementType().isF32() &&
                   elementBytes(typeOf(result).getElementType()) == 2;
  return isRounded ? cast.getInput() : result;
}

/// Builds the loss, and for evaluation the contributions of each sample.
static SmallVector<Result> buildLoss(TensorBuilder &b, const Plan &plan, Value output, Value labels,
                                     Value lengths, bool evaluates) {
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
  LossTerms terms = plan.loss->build(b, inputs);
  Value loss = isPart ? buildPartOfLoss(b, terms, plan.microSteps) : mean(b, terms);
  SmallVector<Result> results = {{loss, lossName.str()}};
  if (!evaluates)
    return results;
  Value weights = terms.weights ? terms.weights : b.splat(terms.losses, 1.0);
  SmallVector<RowValue> values = {{abi::rowLoss, terms.losses}, {abi::rowWeight, weights}};
  if (plan.loss->buildMetrics)
    plan.loss->buildMetrics(b, inputs, terms, values);
  for (const RowValue &row : values)
    results.push_back({isDifferentiable(row.value.getType()) ? rowSums(b, row.value) : row.value,
                       (Twine(abi::rowPrefix) + row.name).str()});
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
static func::FuncOp makeFunction(func::FuncOp forward, StringRef name, const Plan &plan,
                                 bool evaluates) {
  func::FuncOp function = copyForward(forward, name);
  Value labels = attachInput(function, plan.labels, plan.labelType);
  Value lengths = attachInput(function, plan.inputLengths, plan.lengthsType);
  Operation *terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  StringRef lossName = plan.loss ? StringRef(plan.loss->name) : "output";
  TensorBuilder b(NameLoc::get(builder.getStringAttr("loss " + lossName)), builder);
  SmallVector<Result> results = buildLoss(
      b, plan, beforeRounding(terminator->getOperand(plan.output)), labels, lengths, evaluates);
  if (evaluates)
    eraseWrites(function);
  else if (plan.microSteps > 1)
    numberRandomBits(function, plan.microSteps);
  setResults(function, results);
  return function;
}

/// Emits remarks about differences between micro-steps and one large batch.
static void remarkOnMicroSteps(func::FuncOp forward, const Plan &plan) {
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
static void describe(func::FuncOp microStep, const Plan &plan) {
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
  FailureOr<LossOptions> given = readOptions();
  if (failed(given))
    return signalPassFailure();
  options = *given;
  ModuleOp module = getOperation();
  auto forward = module.lookupSymbol<func::FuncOp>(forwardName);
  if (!forward || !forward.getBody().hasOneBlock()) {
    emitError(module.getLoc(), "the module has no single-block function @forward");
    return signalPassFailure();
  }
  FailureOr<Plan> plan = makePlan(forward);
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
