//===- Element.cpp - Elementwise losses -------------------------------------------------------===//

#include "passes/losses/Loss.h"

using namespace mlir;
using namespace mtc;

static LogicalResult expect(std::string &expected, StringRef text) {
  expected = text.str();
  return failure();
}

static FailureOr<LabelLayout> sameShape(RankedTensorType output, RankedTensorType given,
                                        std::string &expected) {
  if (output.getRank() == 0)
    return expect(expected, "an output with a batch dimension");
  if (given && given.getShape() != output.getShape())
    return expect(expected, "labels of the output's shape");
  return LabelLayout{SmallVector<int64_t>(output.getShape())};
}

/// (x - y)².
static LossTerms squared(TensorBuilder &b, Value x, Value y, int64_t) {
  Value difference = b.sub(x, y);
  return {b.mul(difference, difference), nullptr};
}

/// |x - y|.
static LossTerms absolute(TensorBuilder &b, Value x, Value y, int64_t) {
  return {b.abs(b.sub(x, y)), nullptr};
}

/// -y ln s(x) - (1 - y) ln(1 - s(x)) with the logistic function s, computed without overflow as
/// max(x, 0) - x y + ln(1 + e^-|x|).
static LossTerms binaryCrossEntropy(TensorBuilder &b, Value x, Value y, int64_t) {
  Value positive = b.max(x, b.splat(x, 0.0));
  Value tail = b.log1p(b.exp(b.neg(b.abs(x))));
  return {b.add(b.sub(positive, b.mul(x, y)), tail), nullptr};
}

namespace mtc {
void addElementLosses(std::vector<Loss> &losses) {
  auto add = [&](StringLiteral name, StringLiteral help, decltype(Loss::build) build,
                 OutputActivation activation = OutputActivation::None) {
    losses.push_back({.name = name,
                      .help = help,
                      .classifies = false,
                      .layout = sameShape,
                      .build = build,
                      .buildCorrect = nullptr,
                      .activation = activation});
  };
  add("mse", "mean squared error", squared);
  add("l1", "mean absolute error", absolute);
  add("bce-with-logits", "mean binary cross-entropy of logits", binaryCrossEntropy,
      OutputActivation::Sigmoid);
}
} // namespace mtc
