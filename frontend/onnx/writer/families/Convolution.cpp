//===- Convolution.cpp - Convolutions and their gradients as ONNX nodes -----------------------===//
//
// ONNX has channels as the second axis. The transposes around each node cancel with those of the
// conversion from ONNX.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/writer/Conversions.h"

#include "mlir/IR/Builders.h"

#include <numeric>

using namespace mlir;

namespace mtc::onnx {
namespace {

SmallVector<int64_t> ascending(int64_t count) {
  SmallVector<int64_t> axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

/// [N, I.., C] becomes [N, C, I..].
GraphValue channelsSecond(GraphBuilder &b, const GraphValue &x) {
  SmallVector<int64_t> order = ascending(x.rank());
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return b.transpose(x, order);
}

/// [N, C, I..] becomes [N, I.., C].
GraphValue channelsLast(GraphBuilder &b, const GraphValue &x) {
  SmallVector<int64_t> order = ascending(x.rank());
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return b.transpose(x, order);
}

/// The attributes that the three operations share, and the extents of the window axes.
template <typename Op> struct Window {
  explicit Window(Op op)
      : before(op.getBefore()), strides(op.getStrides()), dilations(op.getDilations()),
        groups(op.getGroups()),
        input(cast<RankedTensorType>(op.getInput().getType()).getShape().drop_front().drop_back()),
        output(
            cast<RankedTensorType>(op.getOutput().getType()).getShape().drop_front().drop_back()),
        taps(cast<RankedTensorType>(op.getWeights().getType()).getShape().drop_front(2)) {}

  /// Returns the padding after the input along each axis: negative if no window reads the last
  /// elements.
  SmallVector<int64_t> after() const {
    SmallVector<int64_t> amounts;
    for (size_t i = 0; i < taps.size(); ++i)
      amounts.push_back((output[i] - 1) * strides[i] + (taps[i] - 1) * dilations[i] + 1 -
                        before[i] - input[i]);
    return amounts;
  }

  ArrayRef<int64_t> before, strides, dilations;
  int64_t groups;
  ArrayRef<int64_t> input, output, taps;
};

SmallVector<int64_t> concatenate(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> all(a);
  llvm::append_range(all, b);
  return all;
}

SmallVector<int64_t> onlyPositive(ArrayRef<int64_t> amounts) {
  return llvm::map_to_vector(amounts, [](int64_t amount) { return std::max<int64_t>(amount, 0); });
}

/// Cuts [N, C, I..] after the last element that a window reads, unless the rest is too short for
/// another window of a Conv with these strides.
GraphValue cutUnread(GraphBuilder &b, const GraphValue &x, ArrayRef<int64_t> after,
                     ArrayRef<int64_t> strides) {
  SmallVector<int64_t> shape(x.shape()), zeros(x.rank(), 0), ones(x.rank(), 1);
  for (auto [i, amount] : llvm::enumerate(after))
    if (-amount >= strides[i])
      shape[i + 2] += amount;
  return b.slice(x, zeros, ones, shape);
}

GraphValue convertConvolve(ConvolveOp op, GraphBuilder &b) {
  Window window(op);
  GraphValue x =
      cutUnread(b, channelsSecond(b, b.get(op.getInput())), window.after(), window.strides);
  GraphValue weights = b.get(op.getWeights());
  SmallVector<int64_t> shape{x.shape().front(), weights.shape().front()};
  llvm::append_range(shape, window.output);
  Type element = op.getOutput().getType().getElementType();
  GraphValue y =
      b.node("Conv", {b.cast(x, element), b.cast(weights, element)}, b.typeOf(shape, element),
             {{"group", window.groups},
              {"pads", concatenate(window.before, onlyPositive(window.after()))},
              {"strides", llvm::to_vector(window.strides)},
              {"dilations", llvm::to_vector(window.dilations)}});
  return channelsLast(b, y);
}

/// The elements after the last window are 0. `output_padding` adds fewer of them than a stride.
GraphValue convertTransposedConvolve(TransposedConvolveOp op, GraphBuilder &b) {
  Window window(op);
  GraphValue y = channelsSecond(b, b.get(op.getOutput())), weights = b.get(op.getWeights());
  SmallVector<int64_t> after = window.after();
  SmallVector<int64_t> shape{y.shape().front(), window.groups * weights.shape()[1]};
  llvm::append_range(shape, window.input);
  SmallVector<int64_t> zeros(shape.size(), 0), missing(zeros), added(after.size(), 0);
  for (auto [i, amount] : llvm::enumerate(after)) {
    added[i] = std::clamp<int64_t>(-amount, 0, window.strides[i] - 1);
    missing[i + 2] = std::max<int64_t>(-amount, 0) - added[i];
    shape[i + 2] -= missing[i + 2];
  }
  Type element = op.getInput().getType().getElementType();
  GraphValue x = b.node("ConvTranspose", {b.cast(y, element), b.cast(weights, element)},
                        b.typeOf(shape, element),
                        {{"group", window.groups},
                         {"pads", concatenate(window.before, onlyPositive(after))},
                         {"output_padding", added},
                         {"strides", llvm::to_vector(window.strides)},
                         {"dilations", llvm::to_vector(window.dilations)}});
  return channelsLast(b, b.pad(x, zeros, missing, b.scalar(element, 0)));
}

/// The gradient of the weights is a convolution over the batch: the channels of a group are its
/// samples, the samples its channels, and strides and dilations are exchanged. With the input as
/// [C, G * N, I..] and the output's gradient as [G * M, N, O..], the result is [C, G * M, K..].
GraphValue convertConvolveWeightGradient(ConvolveWeightGradientOp op, GraphBuilder &b) {
  Window window(op);
  GraphValue x =
      cutUnread(b, channelsSecond(b, b.get(op.getInput())), window.after(), window.dilations);
  GraphValue y = channelsSecond(b, b.get(op.getOutput()));
  RankedTensorType type = op.getWeights().getType();
  const int64_t samples = x.shape().front(), channels = type.getDimSize(1);
  const ArrayRef<int64_t> extents = x.shape().drop_front(2);

  SmallVector<int64_t> split{samples, window.groups, channels},
      merged{channels, window.groups * samples};
  llvm::append_range(split, extents);
  llvm::append_range(merged, extents);
  SmallVector<int64_t> toFront = ascending(static_cast<int64_t>(split.size()));
  std::swap(toFront[0], toFront[2]);
  x = b.reshape(b.transpose(b.reshape(x, split), toFront), merged);

  SmallVector<int64_t> swapped = ascending(type.getRank());
  std::swap(swapped[0], swapped[1]);
  y = b.transpose(y, swapped);

  SmallVector<int64_t> shape{channels, type.getDimSize(0)};
  llvm::append_range(shape, window.taps);
  GraphValue weights =
      b.node("Conv", {b.cast(x, type.getElementType()), b.cast(y, type.getElementType())},
             b.typeOf(shape, type.getElementType()),
             {{"group", window.groups},
              {"pads", concatenate(window.before, onlyPositive(window.after()))},
              {"strides", llvm::to_vector(window.dilations)},
              {"dilations", llvm::to_vector(window.strides)}});
  return b.transpose(weights, swapped);
}

} // namespace

void addConvolutionConversions(Conversions &conversions) {
  conversions.add(convertConvolve);
  conversions.add(convertTransposedConvolve);
  conversions.add(convertConvolveWeightGradient);
}

} // namespace mtc::onnx
