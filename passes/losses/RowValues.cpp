//===- RowValues.cpp - Builders of values for metrics -----------------------------------------===//

#include "passes/losses/RowValues.h"

using namespace mlir;
using namespace mtc;

Value mtc::largestClass(TensorBuilder &b, Value scores) {
  auto last = static_cast<int64_t>(shapeOf(scores).size()) - 1;
  Value largest = b.broadcast(b.reduce(ReductionKind::Max, scores, last), last, shapeOf(scores));
  Value isLargest = b.compare(Predicate::Eq, scores, largest);
  Value classes = b.iota(RankedTensorType::get(shapeOf(scores), b.getI32Type()), last);
  Value none = b.splat(classes, static_cast<double>(shapeOf(scores)[last]));
  return b.reduce(ReductionKind::Min, b.select(isLargest, classes, none), last);
}

void mtc::addScores(TensorBuilder &b, Value logits, Value labels,
                    SmallVectorImpl<RowValue> &values) {
  if (ShapedType::getNumElements(shapeOf(logits).drop_front()) > abi::maxScores)
    return;
  values.push_back({abi::rowScore, b.cast(logits, b.getF32Type())});
  values.push_back({abi::rowLabelClass, labels});
}

void mtc::addPositives(TensorBuilder &b, Value predicted, Value labelled, Type element,
                       const abi::PositiveNames &names, SmallVectorImpl<RowValue> &values) {
  values.push_back({names.hits, b.cast(b.logicalAnd(predicted, labelled), element)});
  values.push_back({names.predicted, b.cast(predicted, element)});
  values.push_back({names.labelled, b.cast(labelled, element)});
}
