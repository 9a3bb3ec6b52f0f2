//===- CrossEntropy.cpp - Classification losses -----------------------------------------------===//

#include "passes/losses/Loss.h"

using namespace mlir;
using namespace mtc;

static LogicalResult expect(std::string &expected, StringRef text) {
  expected = text.str();
  return failure();
}

static SmallVector<int64_t> without(ArrayRef<int64_t> shape, int64_t axis) {
  SmallVector<int64_t> rest(shape);
  rest.erase(rest.begin() + axis);
  return rest;
}

/// Returns the layout of labels. The shape of the graph's labels determines the class axis; without
/// labels it is the last axis, or axis 1 for images, whose layout in ONNX and PyTorch is [batch,
/// classes, height, width].
static FailureOr<LabelLayout> crossEntropyLayout(RankedTensorType output, RankedTensorType given,
                                                 std::string &expected) {
  int64_t rank = output.getRank(), last = rank - 1;
  if (rank < 2)
    return expect(expected, "an output of at least two dimensions, [batch, classes]");
  ArrayRef<int64_t> shape = output.getShape();
  if (!given)
    return LabelLayout{without(shape, rank >= 4 ? 1 : last), rank >= 4 ? 1 : last};
  for (int64_t axis : {last, int64_t(1)})
    if (given.getShape() == ArrayRef<int64_t>(without(shape, axis)))
      return LabelLayout{without(shape, axis), axis};
  return expect(expected,
                "labels of the output's shape without its class axis, the last or axis 1");
}

static FailureOr<LabelLayout> causalLmLayout(RankedTensorType output, RankedTensorType given,
                                             std::string &expected) {
  if (output.getRank() != 3)
    return expect(expected, "an output of three dimensions, [batch, tokens, vocabulary]");
  SmallVector<int64_t> shape(output.getShape().drop_back());
  if (given && given.getShape() != ArrayRef<int64_t>(shape))
    return expect(expected, "labels of shape [batch, tokens]");
  return LabelLayout{shape, 2};
}

static Value classesLast(TensorBuilder &b, Value output, int64_t classAxis) {
  int64_t rank = shapeOf(output).size();
  if (classAxis == rank - 1)
    return output;
  SmallVector<int64_t> permutation = without(llvm::to_vector(llvm::seq<int64_t>(rank)), classAxis);
  permutation.push_back(classAxis);
  return b.transpose(output, permutation);
}

/// Returns labels that can be compared with -100, which unsigned types cannot represent.
static Value asSigned(TensorBuilder &b, Value labels) {
  return isUnsigned(typeOf(labels).getElementType()) ? b.cast(labels, b.getI64Type()) : labels;
}

static Value counts(TensorBuilder &b, Value labels) {
  return b.compare(Predicate::Ne, labels, b.splat(labels, ignoredLabel));
}

static LossTerms build(TensorBuilder &b, Value output, Value labels, int64_t classAxis) {
  labels = asSigned(b, labels);
  Type element = typeOf(output).getElementType();
  Value logits = classesLast(b, output, classAxis);
  Value losses = SoftmaxCrossEntropyOp::create(b, RankedTensorType::get(shapeOf(labels), element),
                                               logits, labels, ignoredLabel);
  return {losses, b.cast(counts(b, labels), element)};
}

static Value buildCorrect(TensorBuilder &b, Value output, Value labels, int64_t classAxis) {
  labels = asSigned(b, labels);
  Value logits = classesLast(b, output, classAxis);
  int64_t last = shapeOf(logits).size() - 1;
  Value counted = counts(b, labels);
  Value index = b.select(counted, labels, b.splat(labels, 0.0));
  Value ofLabel = b.gather(logits, index, /*axis=*/last, /*batch=*/last);
  Value largest = b.reduce(ReductionKind::Max, logits, {last});
  Value correct = b.logicalAnd(counted, b.compare(Predicate::Eq, ofLabel, largest));
  return b.cast(correct, typeOf(output).getElementType());
}

namespace mtc {
void addCrossEntropyLosses(std::vector<Loss> &losses) {
  losses.push_back({.name = "cross-entropy",
                    .help = "cross-entropy of classes, mean over labels other than -100",
                    .classifies = true,
                    .layout = crossEntropyLayout,
                    .build = build,
                    .buildCorrect = buildCorrect,
                    .activation = OutputActivation::Softmax});
  losses.push_back({.name = "causal-lm",
                    .help = "cross-entropy of the next token; labels default to shifted ids",
                    .classifies = true,
                    .layout = causalLmLayout,
                    .build = build,
                    .buildCorrect = buildCorrect,
                    .activation = OutputActivation::Softmax,
                    .predictsNextToken = true});
}
} // namespace mtc
