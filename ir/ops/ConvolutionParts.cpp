//===- ConvolutionParts.cpp - Decomposition of convolution and its adjoints -------------------===//
//
// Uses windows of the input. The taps and channels of windows are contracted. A depthwise
// convolution has one input channel per group, so there is little to contract: its products are
// summed while the windows are read. If the result is f32 and the operands are not, the operands
// are converted first, so that no partial sum is rounded.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

namespace {

template <typename Op> class ConvolutionParts {
public:
  ConvolutionParts(TensorBuilder &b, Op op)
      : b(b), op(op), rank(op.getStrides().size()), groups(op.getGroups()),
        isDepthwise(groups > 1 && shapeOf(op.getWeights())[1] == 1) {}

  Value output() {
    Value x = windows(), w = grouped(op.getWeights(), 0);
    if (isDepthwise)
      return flat(b.sum(b.mul(ofWindows(x), ofWeights(w)), taps(3 + rank)), op.getOutput());
    if (groups == 1)
      return b.contract(x, w, {}, {}, axes(rank + 1, rank + 1), axes(1, rank + 1));
    Value y = b.contract(x, w, {1 + rank}, {0}, axes(rank + 2, rank + 1), axes(2, rank + 1));
    return flat(groupsAfterPositions(y), op.getOutput());
  }

  Value input() {
    Value y = grouped(op.getOutput(), 1 + rank), w = grouped(op.getWeights(), 0), products;
    if (isDepthwise) // [N, O.., G, M, K..], and C = 1.
      products = b.sum(b.mul(ofOutput(y), ofWeights(w)), {2 + rank});
    else if (groups == 1)
      products = b.contract(y, w, {}, {}, {1 + rank}, {0});
    else
      products = groupsAfterPositions(b.contract(y, w, {1 + rank}, {0}, {2 + rank}, {1}));
    SmallVector<int64_t> shape(shapeOf(op.getInput()));
    if (groups > 1) {
      shape.back() = groups;
      if (!isDepthwise)
        shape.push_back(shapeOf(op.getWeights())[1]);
    }
    return flat(b.overlapAdd(products, axes(1, rank), op.getBefore(), op.getStrides(),
                             op.getDilations(), shape),
                op.getInput());
  }

  Value weights() {
    Value x = windows(), y = grouped(op.getOutput(), 1 + rank);
    SmallVector<int64_t> positions = axes(0, 1 + rank);
    if (isDepthwise)
      return flat(b.sum(b.mul(ofWindows(x), ofOutput(y)), positions), op.getWeights());
    if (groups == 1)
      return b.contract(y, x, {}, {}, positions, positions);
    return flat(b.contract(y, x, {1 + rank}, {1 + rank}, positions, positions), op.getWeights());
  }

private:
  static SmallVector<int64_t> axes(int64_t first, int64_t count) {
    return llvm::to_vector(llvm::seq(first, first + count));
  }
  SmallVector<int64_t> taps(int64_t first) { return axes(first, rank); }

  Value widened(Value x) { return b.cast(x, typeOf(op->getResult(0)).getElementType()); }

  /// Splits `axis` into groups and the channels of a group; returns the value itself for one group.
  Value grouped(Value value, int64_t axis) {
    Value x = widened(value);
    SmallVector<int64_t> shape(shapeOf(x));
    if (groups == 1)
      return x;
    shape[axis] /= groups;
    shape.insert(shape.begin() + axis, groups);
    return b.reshape(x, shape);
  }

  Value flat(Value x, Value like) { return b.reshape(x, shapeOf(like)); }

  /// Builds the windows [N, O.., C, K..] or, for several groups, [N, O.., G, C, K..].
  Value windows() {
    SmallVector<int64_t> low(rank + 2, 0), high(low), interior(low), positions, kernel;
    for (int64_t i = 0; i < rank; ++i) {
      positions.push_back(shapeOf(op.getOutput())[1 + i]);
      kernel.push_back(shapeOf(op.getWeights())[2 + i]);
      int64_t reach = positions[i] && kernel[i] ? (positions[i] - 1) * op.getStrides()[i] +
                                                      (kernel[i] - 1) * op.getDilations()[i] + 1
                                                : 0;
      low[1 + i] = op.getBefore()[i];
      high[1 + i] = std::max<int64_t>(0, reach - op.getBefore()[i] - shapeOf(op.getInput())[1 + i]);
    }
    Value padded = b.pad(widened(op.getInput()), low, high, interior);
    return b.windows(grouped(padded, 1 + rank), axes(1, rank), positions, kernel, op.getStrides(),
                     op.getDilations());
  }

  /// Transposes [G, N, O.., rest] to [N, O.., G, rest].
  Value groupsAfterPositions(Value x) {
    SmallVector<int64_t> order = axes(1, 1 + rank);
    order.push_back(0);
    llvm::append_range(order, axes(2 + rank, typeOf(x).getRank() - rank - 2));
    return b.transpose(x, order);
  }

  // Depthwise convolution: the factors are broadcast to the axes [N, O.., G, M, K..].
  SmallVector<int64_t> products() {
    SmallVector<int64_t> shape(shapeOf(op.getOutput()));
    shape.back() = groups;
    shape.push_back(shapeOf(op.getOutput()).back() / groups);
    llvm::append_range(shape, shapeOf(op.getWeights()).drop_front(2));
    return shape;
  }
  Value ofWindows(Value x) { // [N, O.., G, 1, K..]
    SmallVector<int64_t> shape = products();
    shape.erase(shape.begin() + 2 + rank);
    return b.broadcast(b.reshape(x, shape), {2 + rank}, products());
  }
  Value ofWeights(Value w) { // [G, M, 1, K..]
    return b.broadcast(b.reshape(w, ArrayRef<int64_t>(products()).drop_front(1 + rank)),
                       axes(0, 1 + rank), products());
  }
  Value ofOutput(Value y) { // [N, O.., G, M]
    return b.broadcast(y, taps(3 + rank), products());
  }

  TensorBuilder &b;
  Op op;
  int64_t rank, groups;
  bool isDepthwise;
};

} // namespace

SmallVector<Value> ConvolveOp::decompose(TensorBuilder &b) {
  return {ConvolutionParts(b, *this).output()};
}

SmallVector<Value> TransposedConvolveOp::decompose(TensorBuilder &b) {
  return {ConvolutionParts(b, *this).input()};
}

SmallVector<Value> ConvolveWeightGradientOp::decompose(TensorBuilder &b) {
  return {ConvolutionParts(b, *this).weights()};
}
