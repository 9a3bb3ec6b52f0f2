//===- Element.cpp - Elementwise losses -------------------------------------------------------===//

#include "passes/losses/ElementLoss.h"
#include "passes/losses/RowValues.h"

using namespace mlir;
using namespace mtc;

/// (x - y)².
static LossTerms squared(TensorBuilder &b, const LossInputs &in) {
  Value difference = b.sub(in.output, in.labels);
  return {b.mul(difference, difference), nullptr};
}

/// |x - y|.
static LossTerms absolute(TensorBuilder &b, const LossInputs &in) {
  return {b.abs(b.sub(in.output, in.labels)), nullptr};
}

/// The error e = |x - y| scaled by `slope` with half of `slope` times `knee` subtracted, and
/// e² times `curvature` / 2 below the knee. The cotangent of the square is that of (x - y)².
static Value linearFrom(TensorBuilder &b, const LossInputs &in, double knee, double slope,
                        double curvature) {
  Value difference = b.sub(in.output, in.labels), error = b.abs(difference);
  Value square = b.mul(b.mul(difference, difference), b.splat(error, curvature / 2));
  Value linear = b.mul(b.sub(error, b.splat(error, knee / 2)), b.splat(error, slope));
  return b.select(b.compare(Predicate::Lt, error, b.splat(error, knee)), square, linear);
}

/// e² / 2 for the error e = |x - y| below delta, and delta (e - delta / 2) from there.
static LossTerms huber(TensorBuilder &b, const LossInputs &in) {
  double delta = in.parameters.huberDelta.value_or(1);
  return {linearFrom(b, in, delta, /*slope=*/delta, /*curvature=*/1), nullptr};
}

/// e² / (2 beta) for the error e = |x - y| below beta, and e - beta / 2 from there.
static LossTerms smoothAbsolute(TensorBuilder &b, const LossInputs &in) {
  double beta = in.parameters.smoothL1Beta.value_or(1);
  if (beta == 0)
    return absolute(b, in);
  return {linearFrom(b, in, beta, /*slope=*/1, /*curvature=*/1 / beta), nullptr};
}

static std::string checkPositiveWeight(const LossParameters &parameters, RankedTensorType output,
                                       const LabelLayout &) {
  size_t given = parameters.positiveWeight.size(), expected = output.getShape().back();
  if (given <= 1 || given == expected)
    return "";
  return ("--pos-weight: " + Twine(given) +
          " weights; expected one number, or one for each of the " + Twine(expected) +
          " elements of the output's last axis")
      .str();
}

/// -p y ln s(x) - (1 - y) ln(1 - s(x)) with the logistic function s and the weight p of positive
/// labels, by default 1. Without a weight it is computed without overflow as max(x, 0) - x y +
/// ln(1 + e^-|x|), with a weight as (1 - y) x + (1 + (p - 1) y) (max(-x, 0) + ln(1 + e^-|x|)).
static LossTerms binaryCrossEntropy(TensorBuilder &b, const LossInputs &in) {
  Value x = in.output, y = in.labels, zero = b.splat(x, 0.0);
  auto buildTail = [&] { return b.log1p(b.exp(b.neg(b.abs(x)))); };
  if (in.parameters.positiveWeight.empty()) {
    Value positive = b.max(x, zero), tail = buildTail();
    return {b.add(b.sub(positive, b.mul(x, y)), tail), nullptr};
  }
  Value p = buildNumbers(b, in.parameters.positiveWeight, typeOf(x).getElementType());
  Value one = b.splat(x, 1.0);
  Value weight = b.add(one, b.mul(b.sub(b.broadcastTo(p, shapeOf(x)), one), y));
  Value ofPositive = b.add(b.max(b.neg(x), zero), buildTail());
  return {b.add(b.mul(b.sub(one, y), x), b.mul(weight, ofPositive)), nullptr};
}

/// A probability above 0.5 predicts a positive label, and so does a label above 0.5.
static void buildPositives(TensorBuilder &b, const LossInputs &in, const LossTerms &,
                           SmallVectorImpl<RowValue> &values) {
  Value predicted = b.compare(Predicate::Gt, in.output, b.splat(in.output, 0.0));
  Value labelled = b.compare(Predicate::Gt, in.labels, b.splat(in.labels, 0.5));
  Value correct = b.select(predicted, labelled, b.logicalNot(labelled));
  Type element = typeOf(in.output).getElementType();
  values.push_back({abi::rowCorrect, b.cast(correct, element)});
  bool isBinary = ShapedType::getNumElements(shapeOf(in.output).drop_front()) == 1;
  addPositives(b, predicted, labelled, element,
               isBinary ? abi::rowPositives : abi::rowMicroPositives, values);
  Value classes = b.cast(labelled, b.getI32Type());
  if (isBinary)
    return addScores(b, in.output, classes, values);
  if (shapeOf(in.output).size() != 2 || shapeOf(in.output).back() > abi::maxClassScores)
    return;
  values.push_back({abi::rowClassScores, b.cast(in.output, b.getF32Type())});
  values.push_back({abi::rowLabelClass, classes});
}

namespace mtc {
void addElementLosses(std::vector<Loss> &losses) {
  auto add = [&](StringLiteral name, StringLiteral help, decltype(Loss::build) build) -> Loss & {
    return losses.emplace_back(elementLoss(name, help, build));
  };
  static constexpr StringLiteral ofHuber[] = {"huber-delta"}, ofSmooth[] = {"smooth-l1-beta"},
                                 ofBinary[] = {"pos-weight"};
  add("mse", "mean squared error", squared);
  add("l1", "mean absolute error", absolute);
  add("huber", "squared error, linear above --huber-delta", huber).parameters = ofHuber;
  add("smooth-l1", "squared error divided by --smooth-l1-beta, linear above it", smoothAbsolute)
      .parameters = ofSmooth;
  Loss &binary = add("bce-with-logits", "mean binary cross-entropy of logits", binaryCrossEntropy);
  binary.parameters = ofBinary;
  binary.checkParameters = checkPositiveWeight;
  binary.buildMetrics = buildPositives;
  binary.activation = OutputActivation::Sigmoid;
}
} // namespace mtc
