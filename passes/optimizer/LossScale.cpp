//===- LossScale.cpp - Loss scaling in the parameter update -----------------------------------===//
//
// Follows PyTorch's GradScaler, with its growth factor 2 and backoff factor 1/2.
//
//===------------------------------------------------------------------------------------------===//

#include "passes/optimizer/LossScale.h"

#include "ir/ReservedNames.h"
#include "passes/optimizer/Optimizer.h"

using namespace mlir;
using namespace mtc;

static Value readVariable(TensorBuilder &b, StringRef name, Type element) {
  return b.create<ReadOp>(RankedTensorType::get({}, element), name);
}

LossScale::LossScale(TensorBuilder &b, LossScalingAttr attribute)
    : attribute(attribute), oldScale(readVariable(b, lossScaleName, b.getF32Type())),
      finiteUpdates(readVariable(b, finiteUpdatesName, b.getI64Type())),
      updateCount(readVariable(b, updateCountName, b.getI64Type())) {
  scale = b.cast(oldScale, b.getF64Type());
  Value one = b.splat(scale, 1.0);
  inverse = b.div(one, scale);
  step = b.add(b.cast(updateCount, b.getF64Type()), one);
}

/// Returns the number of elements that are not finite, or a lower bound greater than 0 if there are
/// more than f32 can count.
static Value countNonFinite(TensorBuilder &b, Value x) {
  return sumOfElements(b, b.select(isFinite(b, x), b.splat(x, 0.0), b.splat(x, 1.0)));
}

/// Returns the sum of the numbers of all ranks of a group.
static Value sumOverRanks(TensorBuilder &b, Value own, RankGroup group) {
  auto counts = RankedTensorType::get({group.count}, b.getF64Type());
  auto all = b.create<AllGatherOp>(TypeRange(counts), b.reshape(own, {1}), group);
  return sumOfElements(b, all->getResult(0));
}

void LossScale::check(TensorBuilder &b, ArrayRef<UpdatedGradient> gradients, RanksAttr ranks,
                      Value norm) {
  // Counts of whole gradients, of pieces, of parts along an axis, and of pieces of parts.
  Value zero = b.splat(scale, 0.0), whole = zero, pieces, parts, piecesOfParts;
  for (const UpdatedGradient &gradient : gradients) {
    Value count = countNonFinite(b, gradient.view.readWide(b));
    Value &sum = gradient.split ? (gradient.isDivided() ? piecesOfParts : parts)
                                : (gradient.isDivided() ? pieces : whole);
    sum = sum ? b.add(sum, count) : count;
  }
  if (pieces)
    whole = b.add(whole, sumOverRanks(b, pieces, ranks.getDataGroup()));
  if (piecesOfParts) {
    Value sum = sumOverRanks(b, piecesOfParts, ranks.getDataGroup());
    parts = parts ? b.add(parts, sum) : sum;
  }
  if (parts)
    whole = b.add(whole, sumOverRanks(b, parts, ranks.getTensorGroup()));
  if (ranks && ranks.getStages() > 1) {
    // Pipeline stages have different updates, in which exchanges between them must have one order:
    // this one depends on that of the norm.
    if (norm)
      whole = b.add(whole, b.cast(b.compare(Predicate::Lt, norm, norm), b.getF64Type()));
    whole = sumOverRanks(b, whole, ranks.getStageGroup());
  }
  skipped = b.compare(Predicate::Gt, whole, zero);
}

Value LossScale::keep(TensorBuilder &b, Value changed, Value old) const {
  return b.select(b.broadcastTo(skipped, shapeOf(old)), old, changed);
}

void LossScale::write(TensorBuilder &b) const {
  Value next = b.add(finiteUpdates, b.splat(finiteUpdates, 1.0)), zero = b.splat(next, 0.0);
  Value grows =
      b.compare(Predicate::Ge, next, b.splat(next, static_cast<double>(attribute.getWindow())));
  Value doubled = b.mul(oldScale, b.splat(oldScale, 2.0));
  doubled = b.select(b.compare(Predicate::Le, doubled, b.splat(doubled, LossScalingAttr::largest)),
                     doubled, oldScale);
  Value halved = b.max(b.mul(oldScale, b.splat(oldScale, 0.5)),
                       b.splat(oldScale, attribute.getMinScale().getValueAsDouble()));
  b.create<WriteOp>(lossScaleName, b.select(skipped, halved, b.select(grows, doubled, oldScale)));
  b.create<WriteOp>(finiteUpdatesName, b.select(b.logicalOr(skipped, grows), zero, next));
  Value counted = b.add(updateCount, b.splat(updateCount, 1.0));
  b.create<WriteOp>(updateCountName, keep(b, counted, updateCount));
}
