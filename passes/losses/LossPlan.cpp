//===- LossPlan.cpp - Choice of output, labels and lengths of the loss ------------------------===//

#include "passes/losses/LossPlan.h"

#include "ir/NodeNames.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "passes/GraphSignature.h"
#include "passes/losses/LossChoice.h"
#include "runtime/abi/input_names.h"

using namespace mlir;
using namespace mtc;

namespace {

class LossPlanner {
public:
  LossPlanner(func::FuncOp forward, const LossOptions &options)
      : forward(forward), options(options), context(forward.getContext()) {}

  FailureOr<LossPlan> run();

private:
  FailureOr<LossPlan> planLabels(LossPlan plan);
  LogicalResult checkUsed(const LossPlan &plan);
  LogicalResult checkParameters(const LossPlan &plan);
  LogicalResult planLengths(LossPlan &plan);
  LogicalResult planWeights(LossPlan &plan);
  bool chooseLogits(const LossPlan &plan);

  func::FuncOp forward;
  const LossOptions &options;
  MLIRContext *context;
};

} // namespace

Type mtc::lossElement(Type element) {
  return element.isF64() ? element : Float32Type::get(element.getContext());
}

FailureOr<LossPlan> LossPlanner::run() {
  std::string question;
  FailureOr<LossChoice> choice = chooseLoss(forward, options.loss, options.output, question);
  if (failed(choice))
    return emitError(forward.getLoc(), question);
  if (options.loss.empty())
    emitRemark(UnknownLoc::get(context), "the loss is ")
        << choice->loss << "; use --loss to choose another";
  LossPlan plan;
  plan.loss = findLoss(choice->loss);
  plan.parameters = options.parameters;
  plan.output = choice->output;
  plan.outputType = cast<RankedTensorType>(forward.getResultTypes()[plan.output]);
  plan.labels = options.labels.empty() ? "labels" : options.labels;
  ProgramOp program = ProgramOp::find(forward->getParentOfType<ModuleOp>());
  plan.microSteps = options.microSteps * (program ? program.getDataGroup().count : 1);
  plan.hasShapes = forward->getParentOfType<ModuleOp>()->hasAttr(hasShapesAttribute);
  if (plan.loss)
    return planLabels(plan);
  if (failed(checkUsed(plan)))
    return failure();
  if (options.lossWeights == "always")
    return emitError(forward.getLoc(), "--loss-weights always: the loss is output '")
           << resultName(forward, plan.output) << "', whose samples have no weights";
  if (!options.labels.empty() && !findArgument(forward, options.labels))
    return emitError(forward.getLoc(), "--labels: the graph has no input '")
           << options.labels << "'; the loss is output '" << resultName(forward, plan.output)
           << "', which has no labels";
  return plan;
}

/// Reports each given parameter that the loss does not use, with the losses that use it.
LogicalResult LossPlanner::checkUsed(const LossPlan &plan) {
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
LogicalResult LossPlanner::checkParameters(const LossPlan &plan) {
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

FailureOr<LossPlan> LossPlanner::planLabels(LossPlan plan) {
  RankedTensorType type = plan.outputType, given;
  if (std::optional<unsigned> argument = findArgument(forward, plan.labels))
    given = cast<RankedTensorType>(forward.getArgumentTypes()[*argument]);
  bool areProbabilities = given && isDifferentiable(given) && given.getShape() == type.getShape();
  if (plan.loss->ofProbabilities && (plan.parameters.softLabels || areProbabilities))
    plan.loss = plan.loss->ofProbabilities;
  if (failed(checkUsed(plan)))
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
  Builder b(context);
  plan.layout = *layout;
  plan.labelType =
      given ? given
            : RankedTensorType::get(layout->shape, plan.loss->classifies
                                                       ? Type(b.getI64Type())
                                                       : lossElement(type.getElementType()));
  if (failed(checkParameters(plan)))
    return failure();
  if (plan.loss->hasSequences && failed(planLengths(plan)))
    return failure();
  if (failed(planWeights(plan)))
    return failure();
  // The label of the last token is the ignored one.
  if (plan.loss->predictsNextToken &&
      isRepresentable(plan.parameters.ignoredLabel, plan.labelType.getElementType()))
    if (int64_t input = findTokenInput(forward, layout->shape, plan.labels); input >= 0)
      plan.shiftedFrom = argumentName(forward, input).str();
  plan.takesLogits = chooseLogits(plan);
  return plan;
}

/// Chooses the input with the number of frames of each sample: the one that is named, which may be
/// new, or an input of the graph with the usual name.
LogicalResult LossPlanner::planLengths(LossPlan &plan) {
  static constexpr StringLiteral usual = "input_lengths";
  const std::string &named = plan.parameters.inputLengths;
  std::string name = named.empty() ? usual.str() : named;
  Builder b(context);
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
      emitRemark(UnknownLoc::get(context), "the number of frames of each sample is input '")
          << name << "'";
    return success();
  }
  return emitError(forward.getLoc(), "--input-lengths ")
         << name << ": input '" << name << "' is " << print(given)
         << "; expected integers of shape [" << type.getDimSize(0) << "]";
}

/// Adds the input of weights if it is requested, or if labels cannot exclude samples.
LogicalResult LossPlanner::planWeights(LossPlan &plan) {
  const bool ignoresLabels =
      plan.loss->classifies && !plan.loss->hasSequences &&
      isRepresentable(plan.parameters.ignoredLabel, plan.labelType.getElementType());
  const bool isAdded =
      options.lossWeights == "always" || (options.lossWeights == "auto" && !ignoresLabels);
  if (!isAdded)
    return success();
  if (findArgument(forward, lossWeightsName))
    return emitError(forward.getLoc(), "--loss-weights ")
           << options.lossWeights << ": the graph has an input '" << lossWeightsName
           << "'; rename it, or give --loss-weights none";
  plan.lossWeights = RankedTensorType::get(plan.layout.shape.front(),
                                           lossElement(plan.outputType.getElementType()));
  return success();
}

/// Returns whether the loss is computed from the logits of the output's activation, which is
/// reported as a remark. Warns about an activation of the output that the loss does not apply
/// itself, or applies along another axis.
bool LossPlanner::chooseLogits(const LossPlan &plan) {
  Value output = forward.front().getTerminator()->getOperand(plan.output);
  std::optional<ActivatedOutput> found;
  if (plan.loss->activation != OutputActivation::None)
    found = findActivation(output);
  if (!found)
    return false;
  Location unknown = UnknownLoc::get(context);
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

FailureOr<LossPlan> mtc::planLoss(func::FuncOp forward, const LossOptions &options) {
  return LossPlanner(forward, options).run();
}
