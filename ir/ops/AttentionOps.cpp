//===- AttentionOps.cpp - Attention: verifiers, cost, gradient, decomposition -----------------===//

#include "ir/Mtc.h"
#include "ir/Precision.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"
#include "ir/interfaces/TargetInfo.h"
#include "ir/ops/AttentionParts.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mtc;

//===------------------------------------------------------------------------------------------===//
// Constraints
//===------------------------------------------------------------------------------------------===//

/// Verifies attention_c1, attention_c2 and attention_c4.
template <typename Op> static LogicalResult verifyOperands(Op op) {
  ArrayRef<int64_t> q = shapeOf(op.getQuery()), k = shapeOf(op.getKey()),
                    v = shapeOf(op.getValue());
  bool fit = q.size() == 4 && k.size() == 4 && v.size() == 4 && q[0] == k[0] && q[3] == k[3] &&
             k.drop_back() == v.drop_back() && k[1] > 0 && q[1] % k[1] == 0;
  if (!fit)
    return op.emitOpError() << "query, key and value have extents " << toText(q) << ", "
                            << toText(k) << " and " << toText(v)
                            << ", expected [B, H, M, D], [B, G, N, D] and [B, G, N, E] with H a "
                               "multiple of G (attention_c1)";
  int64_t full[] = {q[0], q[1], q[2], k[2]};
  for (Value given : {op.getBias(), op.getMask()}) {
    if (!given)
      continue;
    ArrayRef<int64_t> shape = shapeOf(given);
    bool fits = shape.size() == 4 && shape[3] == full[3];
    for (int64_t axis = 0; fits && axis < 3; ++axis)
      fits = shape[axis] == 1 || shape[axis] == full[axis];
    if (!fits)
      return op.emitOpError() << "bias or mask has extents " << toText(shape) << ", expected "
                              << toText(full) << ", of which the first three may be 1 "
                              << "(attention_c2)";
  }
  Type element = typeOf(op.getQuery()).getElementType(), sums = attentionSumType(element);
  for (Value each :
       llvm::concat<Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults()))) {
    if (each == op.getMask())
      continue;
    // Only logsumexp and offsets have three axes.
    Type expected = typeOf(each).getRank() == 3 ? sums : element;
    if (typeOf(each).getElementType() != expected)
      return op.emitOpError() << "has elements " << typeOf(each).getElementType() << " where "
                              << expected << " is expected (attention_c4)";
  }
  return success();
}

/// Returns whether a result has `shape` with its axes permuted by `order`, which keeps the last
/// axis.
static bool hasOrder(Value result, ArrayRef<int64_t> shape, ArrayRef<int64_t> order) {
  SmallVector<int64_t> axes(order);
  llvm::sort(axes);
  return axes.size() == 4 && isIdentityPermutation(axes) && order.back() == 3 &&
         shapeOf(result) == ArrayRef<int64_t>(pick(shape, order));
}

static SmallVector<int64_t> outShape(Value query, Value value) {
  SmallVector<int64_t> shape(shapeOf(query));
  shape.back() = shapeOf(value).back();
  return shape;
}

/// Verifies the results of `mtc.attention` and `mtc.permuted_attention`; `constraint` labels the
/// operation's own constraint.
template <typename Op>
static LogicalResult verifyResults(Op op, ArrayRef<int64_t> order, StringRef constraint) {
  if (failed(verifyOperands(op)))
    return failure();
  SmallVector<int64_t> out = outShape(op.getQuery(), op.getValue());
  ArrayRef<int64_t> logsumexp = shapeOf(op.getQuery()).drop_back();
  if (!hasOrder(op.getOut(), out, order) || shapeOf(op.getLogsumexp()) != logsumexp)
    return op.emitOpError() << "out and logsumexp have extents " << toText(shapeOf(op.getOut()))
                            << " and " << toText(shapeOf(op.getLogsumexp())) << ", expected "
                            << toText(out) << " in the order " << toText(order) << " and "
                            << toText(logsumexp) << " (" << constraint << ")";
  return success();
}

LogicalResult AttentionOp::verify() { return verifyResults(*this, {0, 1, 2, 3}, "attention_c3"); }

LogicalResult PermutedAttentionOp::verify() {
  return verifyResults(*this, getOutOrder(), "permuted_attention_c1");
}

LogicalResult AttentionGradientOp::verify() {
  if (failed(verifyOperands(*this)))
    return failure();
  ArrayRef<int64_t> rows = shapeOf(getQuery()).drop_back();
  if (shapeOf(getLogsumexp()) != rows || shapeOf(getOffsets()) != rows ||
      shapeOf(getDOut()) != ArrayRef<int64_t>(outShape(getQuery(), getValue())) ||
      (getOut() && shapeOf(getOut()) != shapeOf(getDOut())) ||
      !hasOrder(getDQuery(), shapeOf(getQuery()), getQueryOrder()) ||
      !hasOrder(getDKey(), shapeOf(getKey()), getKeyOrder()) ||
      !hasOrder(getDValue(), shapeOf(getValue()), getValueOrder()))
    return emitOpError() << "expected logsumexp, offsets, d_out and out with the extents of rows, "
                         << toText(rows)
                         << ", and each result with the extents of its operand, in its order "
                            "(attention_gradient_c1)";
  return success();
}

//===------------------------------------------------------------------------------------------===//
// Cost
//===------------------------------------------------------------------------------------------===//

Cost AttentionOp::getCost() { return describeCall(std::nullopt).getCost(); }

Cost PermutedAttentionOp::getCost() { return describeCall(std::nullopt).getCost(); }

Cost AttentionGradientOp::getCost() { return describeCall(std::nullopt).getCost(); }

//===------------------------------------------------------------------------------------------===//
// Gradient and decomposition
//===------------------------------------------------------------------------------------------===//

static Value ordered(TensorBuilder &b, Value x, ArrayRef<int64_t> order) {
  return isIdentityPermutation(order) ? x : b.transpose(x, order);
}

/// See `mtc.attention_gradient`. The derivative of logsumexp by the scores is p, so its cotangent
/// is part of the offsets. Saved activations are the operands, out and logsumexp; the scores are
/// recomputed. In rows without keys p is 0, and so are the gradients.
void AttentionOp::buildGradient(GradientBuilder &g) {
  Value dOut = g.cotangent(0), offsets;
  Value out = getOut(), given;
  Type element = typeOf(out).getElementType(), sumType = typeOf(getLogsumexp()).getElementType();
  if (dOut) {
    given = out;
    offsets = g.sum(g.mul(g.cast(given, sumType), g.cast(dOut, sumType)), {3});
  } else {
    dOut = g.splat(RankedTensorType::get(outShape(getQuery(), getValue()), element), 0.0);
    offsets = g.splat(getLogsumexp(), 0.0);
  }
  if (Value dSums = g.cotangent(1)) {
    offsets = g.sub(offsets, dSums);
    given = nullptr;
  }
  // Libraries use it if the elements are narrower than f32, also if mtc-narrow-storage rounds them
  // later.
  if (element == sumType && !storesNarrow(TargetInfo::of(*this).getPrecision()))
    given = nullptr;
  auto gradient = AttentionGradientOp::create(
      g, g.getLoc(), getQuery().getType(), getKey().getType(), getValue().getType(), getQuery(),
      getKey(), getValue(), getBias(), getMask(), getLogsumexp(), offsets, dOut, given,
      getCausalAttr(), getScale());
  for (unsigned i = 0; i < 3; ++i)
    if (g.needs(i))
      g.set(i, gradient->getResult(i));
  if (getBias() && g.needs(3)) {
    // The gradient of the bias is that of the scores, summed over broadcast axes.
    AttentionParts parts(g, *this);
    Value weights = parts.weights(parts.scores(), getLogsumexp());
    Value dp = parts.weightGradients(dOut);
    Value ds = g.mul(weights, g.sub(dp, parts.repeat(offsets, dp)));
    g.set(3, g.cast(g.sumTo(ds, shapeOf(getBias())), element));
  }
}

SmallVector<Value> AttentionOp::decompose(TensorBuilder &b) {
  AttentionParts parts(b, *this);
  Value scores = parts.scores(), logsumexp = parts.logsumexp(scores);
  Value out = parts.mix(parts.weights(scores, logsumexp), getValue());
  return {out, logsumexp};
}

SmallVector<Value> AttentionGradientOp::decompose(TensorBuilder &b) {
  AttentionParts parts(b, *this);
  Value weights = parts.weights(parts.scores(), getLogsumexp());
  Value dp = parts.weightGradients(getDOut());
  Value ds = b.mul(weights, b.sub(dp, parts.repeat(getOffsets(), dp)));
  ds = b.mul(ds, b.splat(ds, getScale().convertToDouble()));
  return {ordered(b, parts.mix(ds, getKey()), getQueryOrder()),
          ordered(b, parts.mixQueries(ds, getQuery()), getKeyOrder()),
          ordered(b, parts.mixQueries(weights, getDOut()), getValueOrder())};
}
