//===- LossOps.cpp - Softmax cross-entropy ----------------------------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

LogicalResult SoftmaxCrossEntropyOp::verify() {
  RankedTensorType logits = getLogits().getType();
  if (logits.getRank() < 1 || logits.getShape().back() < 1)
    return emitOpError() << "logits are " << logits
                         << ", expected classes along the last axis (softmax_cross_entropy_c1)";
  ArrayRef<int64_t> rows = logits.getShape().drop_back();
  if (shapeOf(getLabels()) != rows || shapeOf(getLoss()) != rows)
    return emitOpError() << "labels have extents " << toText(shapeOf(getLabels()))
                         << " and the loss " << toText(shapeOf(getLoss())) << ", expected "
                         << toText(rows) << " for both (softmax_cross_entropy_c1)";
  return success();
}

namespace {

/// Values that the loss and its gradient share. Both build them identically, so that the gradient
/// reuses values of the loss.
class Parts {
public:
  Parts(TensorBuilder &b, SoftmaxCrossEntropyOp op)
      : b(b), op(op), last(shapeOf(op.getLogits()).size() - 1),
        classes(shapeOf(op.getLogits()).back()) {
    // Sums over classes need f32, independent of the storage type of the logits.
    Type element = typeOf(op.getLoss()).getElementType();
    working = element.getIntOrFloatBitWidth() < 32 ? b.getF32Type() : element;
    logits = b.cast(op.getLogits(), working);
  }

  /// Build the row's maximum m and the logarithm of the sum over the classes of e^(logits - m).
  /// The two are not added, since the sum would lose the precision of the logarithm for large m.
  Value maximum() { return b.reduce(ReductionKind::Max, logits, last); }
  Value logSum(Value maximum) { return b.log(b.sum(b.exp(b.sub(logits, repeat(maximum))), last)); }

  /// Builds whether a row counts; returns null if every label counts.
  Value counts() {
    Value labels = op.getLabels();
    Type element = typeOf(labels).getElementType();
    APInt ignore(64, op.getIgnore(), /*isSigned=*/true);
    unsigned width = element.getIntOrFloatBitWidth();
    bool isLabel = isUnsigned(element) ? !ignore.isNegative() && ignore.isIntN(width)
                                       : ignore.isSignedIntN(width);
    if (!isLabel)
      return {};
    auto splat =
        DenseElementsAttr::get(typeOf(labels), IntegerAttr::get(element, ignore.trunc(width)));
    return b.compare(Predicate::Ne, labels, b.constant(splat));
  }

  /// Builds the label as i64, or 0 for ignored rows. Gather counts negative indices from the end,
  /// so negative labels are replaced by an index that is out of bounds.
  Value safeLabels(Value counts) {
    Value labels = b.cast(op.getLabels(), b.getI64Type());
    Value zero = b.splat(labels, 0);
    labels = b.select(b.compare(Predicate::Lt, labels, zero),
                      b.splat(labels, static_cast<double>(classes)), labels);
    return counts ? b.select(counts, labels, zero) : labels;
  }

  /// Broadcasts a row's value to all classes.
  Value repeat(Value rows) { return b.broadcast(rows, last, shapeOf(logits)); }

  TensorBuilder &b;
  SoftmaxCrossEntropyOp op;
  int64_t last, classes;
  Type working;
  Value logits;
};

} // namespace

/// loss = log(sum of e^(x - m)) - (x[label] - m), m = max x, and 0 for ignored rows.
SmallVector<Value> SoftmaxCrossEntropyOp::decompose(TensorBuilder &b) {
  Parts parts(b, *this);
  Value counts = parts.counts();
  Value picked = b.gather(parts.logits, parts.safeLabels(counts), parts.last, parts.last);
  Value maximum = parts.maximum();
  Value loss = b.sub(parts.logSum(maximum), b.sub(picked, maximum));
  if (counts)
    loss = b.select(counts, loss, b.splat(loss, 0.0));
  return {b.cast(loss, typeOf(getLoss()).getElementType())};
}

/// dx = (e^(x - logsumexp(x)) - onehot(label)) * dloss, and 0 for ignored rows: elementwise in x
/// and the row's log-sum-exp from the loss. Saves x, the labels and the row's maximum and
/// logarithm.
void SoftmaxCrossEntropyOp::buildGradient(GradientBuilder &g) {
  Parts parts(g, *this);
  Value counts = parts.counts(), dloss = g.cast(g.cotangent(0), parts.working);
  if (counts)
    dloss = g.select(counts, dloss, g.splat(dloss, 0.0));
  Value maximum = parts.maximum(), logSum = parts.logSum(maximum);
  Value shifted = g.sub(parts.logits, parts.repeat(maximum));
  Value softmax = g.exp(g.sub(shifted, parts.repeat(logSum)));
  // i32 can represent every class and has as many vector lanes as f32 logits.
  Value labels = g.cast(parts.safeLabels(counts), g.getI32Type());
  auto classes = RankedTensorType::get(shapeOf(parts.logits), g.getI32Type());
  Value isLabel = g.compare(Predicate::Eq, g.iota(classes, parts.last), parts.repeat(labels));
  Value oneHot = g.select(isLabel, g.splat(softmax, 1.0), g.splat(softmax, 0.0));
  Value dx = g.mul(g.sub(softmax, oneHot), parts.repeat(dloss));
  g.set(0, g.cast(dx, getLogits().getType().getElementType()));
}
