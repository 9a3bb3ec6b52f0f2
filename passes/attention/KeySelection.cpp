//===- KeySelection.cpp - Masks and biases of recognized attention ----------------------------===//

#include "passes/attention/KeySelection.h"

#include <cmath>

using namespace mlir;
using namespace mtc;

void KeySelection::addMask(Value condition, bool negated) {
  condition = shrink(b, condition, {0, 1, 2});
  if (std::optional<int64_t> offset = causalOffset(condition, queries, negated))
    return addCausal(*offset);
  Operation *op = condition.getDefiningOp();
  if (isa_and_present<NotOp>(op))
    return addMask(op->getOperand(0), !negated);
  if ((!negated && isa_and_present<AndOp>(op)) || (negated && isa_and_present<OrOp>(op))) {
    for (Value operand : op->getOperands())
      addMask(operand, negated);
    return;
  }
  if (std::optional<double> all = splatOf(condition); all && (*all != 0) != negated)
    return; // The mask selects every key.
  if (negated)
    condition = b.logicalNot(condition);
  mask = mask ? combine(mask, condition, &TensorBuilder::logicalAnd) : condition;
}

void KeySelection::addBias(Value value, double factor) {
  if (std::optional<int64_t> offset = biases.offsetOf(value, queries);
      offset && factor > 0 && leavesEveryRow(*offset))
    return addCausal(*offset);
  if (auto select = sameElements(value).getDefiningOp<SelectOp>(); select && factor > 0)
    for (bool negated : {false, true}) {
      std::optional<double> kept = splatOf(negated ? select.getOnFalse() : select.getOnTrue());
      std::optional<double> other = splatOf(negated ? select.getOnTrue() : select.getOnFalse());
      if (!kept || *kept != 0 || !other)
        continue;
      Value condition = b.reshape(select.getCondition(), shapeOf(value));
      if (std::isinf(*other) && *other < 0)
        return addMask(condition, negated);
      if (std::optional<int64_t> offset = causalOffset(condition, queries, negated);
          offset && leavesEveryRow(*offset) && leavesOut(*other))
        return addCausal(*offset);
    }
  if (factor != 1)
    value = b.mul(value, b.splat(value, factor));
  bias = bias ? combine(bias, value, &TensorBuilder::add) : value;
}

Value KeySelection::combine(Value x, Value y, Value (TensorBuilder::*function)(Value, Value)) {
  SmallVector<int64_t> shape;
  for (auto [m, n] : llvm::zip_equal(shapeOf(x), shapeOf(y)))
    shape.push_back(std::max(m, n));
  return (b.*function)(b.broadcastTo(x, shape), b.broadcastTo(y, shape));
}
