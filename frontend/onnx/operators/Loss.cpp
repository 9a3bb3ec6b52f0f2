//===- Loss.cpp - Loss operators --------------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Indices.h"
#include "frontend/onnx/operators/support/Inference.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

struct LossAttributes {
  StringRef reduction;
  std::optional<int64_t> ignored; ///< Targets with this label are ignored.

  static LossAttributes read(NodeView &node) {
    LossAttributes attributes{node.choice("reduction", "mean", {"none", "mean", "sum"}), {}};
    if (node.hasAttribute("ignore_index"))
      attributes.ignored = node.integer("ignore_index");
    return attributes;
  }
};

/// Scores [N, C, …], labels [N, …], weights [C]. The loss is a scalar, or has the labels' shape
/// without reduction. The second result of SoftmaxCrossEntropyLoss contains log-probabilities.
LogicalResult inferClassLoss(Inference &node) {
  StringRef reduction = LossAttributes::read(node).reduction;
  if (!node.floatElements(0) || !node.integerElements(1) || !node.hasRank(0, 2))
    return failure();
  Extents labels(node.shape(0));
  int64_t classes = labels[1];
  labels.erase(labels.begin() + 1);
  if (node.shape(1) != ArrayRef<int64_t>(labels))
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected " + shapeText(labels));
  if (node.has(2) && node.shape(2) != ArrayRef<int64_t>(classes))
    return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                        ", expected " + shapeText(classes));
  if (failed(node.result(0, node.elementType(0), reduction == "none" ? labels : Extents())))
    return failure();
  return node.opType() == "SoftmaxCrossEntropyLoss" ? node.result(1, node.type(0)) : success();
}

/// The values that both operators compute. Classes are axis 1 of the ONNX scores and the last axis
/// here.
class ClassLoss {
public:
  explicit ClassLoss(Conversion &node)
      : node(node), b(node.b), element(node.elementType(0)), compute(computeType(b, element)),
        attributes(LossAttributes::read(node)) {}

  /// Returns the scores with the classes last, in the compute type.
  Value scores() { return b.transpose(b.cast(node.value(0), compute), axisLast(node.rank(0), 1)); }
  Value targets() { return node.value(1); }
  /// Returns the ignored label, or a label that no target has.
  int64_t ignoredLabel() const { return attributes.ignored.value_or(INT64_MIN); }

  /// Returns an i1 mask of the targets that are not ignored; null if there is no ignored label.
  Value counted() {
    if (!attributes.ignored)
      return {};
    Value label = b.cast(targets(), b.getI64Type());
    return b.compare(Predicate::Ne, label,
                     b.constant(DenseElementsAttr::get(typeOf(label), *attributes.ignored)));
  }

  /// Returns the targets with ignored ones replaced by class 0, so that all are valid classes.
  Value classes() {
    Value mask = counted(), labels = targets();
    return mask ? b.select(mask, labels, b.splat(labels, 0.0)) : labels;
  }

  /// Applies class weights (0 for ignored targets) and label smoothing, and reduces the losses. The
  /// mean divides by the sum of the weights.
  LogicalResult finish(Value losses) {
    Value weights;
    if (node.has(2))
      weights = b.gather(classWeights(), classes(), 0, 0);
    if (Value mask = counted())
      weights = b.select(mask, weights ? weights : b.splat(losses, 1.0), b.splat(losses, 0.0));
    if (node.has(2))
      losses = b.mul(losses, weights);
    if (auto smoothing = node.op()->getAttrOfType<FloatAttr>(labelSmoothingAttribute))
      losses =
          smooth(losses, node.program().readNumber(labelSmoothingSetting, "loss",
                                                   smoothing.getValueAsDouble(), node.location()));
    SmallVector<int64_t> all = axesFrom(0, typeOf(losses).getRank());
    if (attributes.reduction != "none") {
      auto count = static_cast<double>(typeOf(losses).getNumElements());
      losses = b.sum(losses, all);
      if (attributes.reduction == "mean")
        losses = weights ? b.div(losses, b.sum(weights, all))
                         : b.mul(losses, b.splat(losses, 1.0 / count));
    }
    return node.result(0, b.cast(losses, element));
  }

private:
  Value classWeights() { return b.cast(node.value(2), compute); }

  /// Returns (1 - s) losses - s / C · sum over the C classes of w_c log softmax(x)_c. The second
  /// term is 0 for ignored targets (torch.nn.CrossEntropyLoss).
  Value smooth(Value losses, const Number &smoothing) {
    Value all = scores();
    int64_t last = typeOf(all).getRank() - 1, classCount = typeOf(all).getDimSize(last);
    Value logarithms = logSoftmax(b, all, last);
    if (node.has(2))
      logarithms = b.mul(logarithms, b.broadcastTo(classWeights(), shapeOf(all)));
    Value uniform = b.sum(logarithms, {last});
    if (Value mask = counted())
      uniform = b.select(mask, uniform, b.splat(uniform, 0.0));
    const Number share = scale(b, smoothing, 1.0 / static_cast<double>(classCount));
    return b.sub(b.mul(losses, broadcastLike(b, complement(b, smoothing), losses)),
                 b.mul(uniform, broadcastLike(b, share, uniform)));
  }

  Conversion &node;
  TensorBuilder &b;
  Type element, compute;
  LossAttributes attributes;
};

/// Result 0 is -log softmax(scores)[target]; result 1, if used, is log softmax(scores).
LogicalResult convertSoftmaxCrossEntropyLoss(Conversion &node) {
  ClassLoss loss(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value scores = loss.scores();
  SmallVector<int64_t> shape(shapeOf(scores).drop_back());
  Value losses = SoftmaxCrossEntropyOp::create(
      b, RankedTensorType::get(shape, typeOf(scores).getElementType()), scores, loss.targets(),
      loss.ignoredLabel());
  if (failed(loss.finish(losses)))
    return failure();
  if (!node.wants(1))
    return success();
  int64_t rank = node.rank(0);
  Value logarithm = b.transpose(logSoftmax(b, scores, rank - 1), axisBack(rank, 1));
  return node.result(1, b.cast(logarithm, node.elementType(0)));
}

/// -scores[target]; 0 for ignored targets.
LogicalResult convertNegativeLogLikelihoodLoss(Conversion &node) {
  ClassLoss loss(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  int64_t last = node.rank(0) - 1;
  Value losses = b.neg(b.gather(loss.scores(), loss.classes(), last, last));
  if (Value mask = loss.counted())
    losses = b.select(mask, losses, b.splat(losses, 0.0));
  return loss.finish(losses);
}

} // namespace

void addLossOperators(Operators &operators) {
  operators.add("SoftmaxCrossEntropyLoss", 12,
                {.infer = inferClassLoss, .convert = convertSoftmaxCrossEntropyLoss});
  operators.add("NegativeLogLikelihoodLoss", 12,
                {.infer = inferClassLoss, .convert = convertNegativeLogLikelihoodLoss});
}

} // namespace mtc::onnx
