//===- LossChoice.cpp - Inference of the loss from a graph ------------------------------------===//

#include "passes/losses/LossChoice.h"
#include "passes/GraphSignature.h"
#include "passes/losses/Loss.h"
#include "runtime/abi/input_names.h"

using namespace mlir;
using namespace mtc;

/// Returns the integer inputs of a shape, except the labels.
static SmallVector<int64_t> integerInputs(func::FuncOp forward, ArrayRef<int64_t> shape,
                                          StringRef labels) {
  SmallVector<int64_t> found;
  for (auto [i, type] : llvm::enumerate(forward.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    if (isa<IntegerType>(tensor.getElementType()) && !tensor.getElementType().isInteger(1) &&
        tensor.getShape() == shape && argumentName(forward, i) != labels)
      found.push_back(i);
  }
  return found;
}

int64_t mtc::findTokenInput(func::FuncOp forward, ArrayRef<int64_t> shape, StringRef labels) {
  SmallVector<int64_t> found = integerInputs(forward, shape, labels);
  if (found.size() > 1)
    llvm::erase_if(found, [&](int64_t i) { return argumentName(forward, i) == paddingMaskName; });
  if (found.size() == 1)
    return found.front();
  for (int64_t i : found)
    if (argumentName(forward, i) == "input_ids")
      return i;
  return -1;
}

namespace {

class Chooser {
public:
  Chooser(func::FuncOp forward, std::string &question) : forward(forward), question(question) {}

  FailureOr<LossChoice> choose(StringRef loss, StringRef output);

private:
  RankedTensorType typeOf(unsigned result) {
    return cast<RankedTensorType>(forward.getResultTypes()[result]);
  }
  bool isScalar(unsigned result) { return typeOf(result).getNumElements() == 1; }
  LogicalResult ask(const Twine &text) {
    question = text.str();
    return failure();
  }
  std::string outputs() { return "the outputs are: " + listResults(forward); }

  FailureOr<unsigned> chooseOutput(StringRef loss, StringRef output);
  FailureOr<std::string> chooseName(unsigned output);

  func::FuncOp forward;
  std::string &question;
};

} // namespace

FailureOr<unsigned> Chooser::chooseOutput(StringRef loss, StringRef output) {
  if (!output.empty()) {
    std::optional<unsigned> result = findResult(forward, output);
    if (!result)
      return ask("--output: no output '" + output + "'; " + outputs());
    if (!isDifferentiable(typeOf(*result)))
      return ask("--output: output '" + output + "' is " + print(typeOf(*result)) +
                 "; expected a floating-point output; " + outputs());
    return *result;
  }

  SmallVector<unsigned> floats, scalars;
  for (unsigned i = 0; i < forward.getNumResults(); ++i)
    if (isDifferentiable(forward.getResultTypes()[i])) {
      floats.push_back(i);
      if (isScalar(i))
        scalars.push_back(i);
    }
  if (floats.empty())
    return ask("the graph has no floating-point output for a loss; " + outputs());
  bool mayBeScalar = loss.empty() || loss == "output";
  if (mayBeScalar && scalars.size() == 1)
    return scalars.front();
  if (loss == "output")
    return ask(
        Twine(scalars.empty()
                  ? "--loss output: no output is a floating-point scalar"
                  : "--loss output: several outputs are scalars; select the loss with --output") +
        "; " + outputs());
  if (loss.empty() && floats.size() > 1)
    return ask(
        "several outputs could be trained; select one with --output and its loss with --loss; " +
        outputs());
  return floats.front();
}

FailureOr<std::string> Chooser::chooseName(unsigned output) {
  RankedTensorType type = typeOf(output);
  if (type.getRank() == 0)
    return std::string("output");
  auto activated = findActivation(forward.front().getTerminator()->getOperand(output));
  if (activated && activated->activation == OutputActivation::Sigmoid)
    return std::string("bce-with-logits");
  if (type.getRank() == 2 && type.getDimSize(1) > 1)
    return std::string("cross-entropy");
  if (type.getRank() == 3 && !integerInputs(forward, type.getShape().drop_back(), "").empty())
    return std::string("causal-lm");
  return ask("cannot infer the loss from output '" + resultName(forward, output) + "' " +
             print(type) + "; use --loss (" + joinNames(lossChoices()) + ")");
}

FailureOr<LossChoice> Chooser::choose(StringRef loss, StringRef output) {
  FailureOr<unsigned> result = chooseOutput(loss, output);
  if (failed(result))
    return failure();
  if (loss == "output" && !isScalar(*result))
    return ask("--loss output: output '" + resultName(forward, *result) + "' is " +
               print(typeOf(*result)) +
               "; expected a floating-point scalar. Choose another with --output, or its loss with "
               "--loss; " +
               outputs());
  if (!loss.empty())
    return LossChoice{loss.str(), *result};
  FailureOr<std::string> name = chooseName(*result);
  if (failed(name))
    return failure();
  return LossChoice{*name, *result};
}

FailureOr<LossChoice> mtc::chooseLoss(func::FuncOp forward, StringRef loss, StringRef output,
                                      std::string &question) {
  return Chooser(forward, question).choose(loss, output);
}
