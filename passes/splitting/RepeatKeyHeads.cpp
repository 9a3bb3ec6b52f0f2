//===- RepeatKeyHeads.cpp - Keys of attention for more ranks than they have heads -------------===//

#include "passes/splitting/RepeatKeyHeads.h"

#include "ir/builders/TensorBuilder.h"

#include <numeric>

using namespace mlir;
using namespace mtc;

/// Returns how often each head of the keys is needed: 1 if the heads can be divided as they are, or
/// not at all.
template <typename Op> static int64_t repetitionsOf(Op op, int64_t parts) {
  const int64_t heads = shapeOf(op.getQuery())[1], keyHeads = shapeOf(op.getKey())[1],
                all = std::lcm(keyHeads, parts);
  return heads % all == 0 ? all / keyHeads : 1;
}

/// Returns keys or values [B, G * times, N, D], in which each of G heads is repeated.
static Value repeated(TensorBuilder &b, Value value, int64_t times) {
  SmallVector<int64_t> shape(shapeOf(value)), apart = shape;
  apart.insert(apart.begin() + 2, times);
  shape[1] *= times;
  return b.reshape(b.broadcast(value, {2}, apart), shape);
}

template <typename Op> static void repeatOperands(TensorBuilder &b, Op op, int64_t times) {
  // Both may be one value.
  Value key = repeated(b, op.getKey(), times), value = repeated(b, op.getValue(), times);
  op.getKeyMutable().assign(key);
  op.getValueMutable().assign(value);
}

/// Lets a gradient have all repetitions of the heads, which are axis 1 before the permutation
/// `order`, and replaces its uses by their sums.
static void addRepetitions(TensorBuilder &b, Value gradient, ArrayRef<int64_t> order,
                           int64_t times) {
  auto type = typeOf(gradient);
  const int64_t axis = llvm::find(order, 1) - order.begin();
  SmallVector<int64_t> all(type.getShape());
  all[axis] *= times;
  SmallVector<OpOperand *> uses =
      llvm::map_to_vector(gradient.getUses(), [](OpOperand &use) { return &use; });
  gradient.setType(type.clone(all));
  SmallVector<int64_t> apart(type.getShape());
  apart.insert(apart.begin() + axis + 1, times);
  Value terms = b.cast(b.reshape(gradient, apart),
                       type.getElementType().isF64() ? type.getElementType() : b.getF32Type());
  Value sum = b.cast(b.sum(terms, {axis + 1}), type.getElementType());
  for (OpOperand *use : uses)
    use->set(sum);
}

void mtc::repeatKeyHeads(ModuleOp module, int64_t parts) {
  module.walk([&](AttentionOp op) {
    if (const int64_t times = repetitionsOf(op, parts); times > 1) {
      TensorBuilder b(op.getLoc(), op);
      repeatOperands(b, op, times);
    }
  });
  module.walk([&](AttentionGradientOp op) {
    const int64_t times = repetitionsOf(op, parts);
    if (times == 1)
      return;
    TensorBuilder b(op.getLoc(), op);
    repeatOperands(b, op, times);
    b.setInsertionPointAfter(op);
    addRepetitions(b, op.getDKey(), op.getKeyOrder(), times);
    addRepetitions(b, op.getDValue(), op.getValueOrder(), times);
  });
}
