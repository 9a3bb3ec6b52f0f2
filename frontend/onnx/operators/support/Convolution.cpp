//===- Convolution.cpp - Operands and windows of convolutions ---------------------------------===//

#include "frontend/onnx/operators/support/Convolution.h"

#include "frontend/onnx/operators/support/Formulas.h"
#include "ir/builders/Shape.h"

using namespace mlir;

namespace mtc::onnx {

FailureOr<Extents> weightKernel(NodeView &node, size_t weight) {
  Extents kernel(node.shape(weight).drop_front(2));
  Extents said = node.integers("kernel_shape", kernel);
  if (node.failed())
    return failure();
  if (said != kernel)
    return node.failure("attribute kernel_shape = " + shapeText(said) + ", but the weight has " +
                        shapeText(kernel));
  return kernel;
}

int64_t groupCount(NodeView &node) { return node.integer("group", 1); }

FailureOr<Convolution> Convolution::read(NodeView &node, ReadWindows readWindows,
                                         ArrayRef<int64_t> input, size_t weight) {
  int64_t group = groupCount(node);
  FailureOr<Extents> kernel = weightKernel(node, weight);
  if (failed(kernel))
    return failure();
  FailureOr<Windows> windows = readWindows(node, input.drop_front(2), *kernel);
  if (failed(windows))
    return failure();
  return Convolution{group, *windows};
}

LogicalResult checkConvolutionOperands(Inference &node) {
  return success(node.floatElements(0) && node.sameElementType(0, 1) &&
                 node.hasRank(0, 3, 2 + MTC_MAX_WINDOW_AXES) &&
                 node.hasRank(1, node.rank(0), node.rank(0)));
}

LogicalResult checkConvolutionBias(Inference &node, int64_t channels) {
  if (!node.has(2))
    return success();
  if (!node.sameElementType(0, 2))
    return failure();
  if (node.shape(2) == ArrayRef<int64_t>(channels))
    return success();
  auto values = node.constantFloats(2);
  if (!values || llvm::any_of(*values, [](double value) { return value != 0; }))
    return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                        ", expected " + shapeText(channels));
  return success();
}

bool hasConvolutionBias(Conversion &node, int64_t channels) {
  return node.has(2) && node.shape(2) == ArrayRef<int64_t>(channels);
}

FailureOr<Extents> convolvedShape(Inference &node, ArrayRef<int64_t> input, size_t weight) {
  if (!node.hasRank(0, 3, 2 + MTC_MAX_WINDOW_AXES) ||
      !node.hasRank(weight, node.rank(0), node.rank(0)) || failed(weightKernel(node, weight)))
    return failure();
  int64_t group = groupCount(node), channels = input[1], out = node.dim(weight, 0);
  if (node.failed())
    return failure();
  if (group < 1 || channels % group != 0 || out % group != 0)
    return node.failure("attribute group = " + Twine(group) + " does not divide " +
                        Twine(channels) + " and " + Twine(out) + " channels");
  if (node.dim(weight, 1) != channels / group)
    return node.failure(Twine(node.operandName(weight)) + " has shape " +
                        shapeText(node.shape(weight)) + ", expected " + Twine(channels / group) +
                        " on axis 1 (" + Twine(channels) + " channels in " + Twine(group) +
                        " groups)");
  FailureOr<Convolution> convolution = Convolution::read(node, readWindows, input, weight);
  if (failed(convolution))
    return failure();
  return convolution->windows.resultShape(input[0], out);
}

Extents channelsLast(int64_t rank) {
  Extents axes = {0};
  llvm::append_range(axes, axesFrom(2, rank));
  axes.push_back(1);
  return axes;
}
Extents channelsFirst(int64_t rank) {
  Extents axes = {0, rank - 1};
  llvm::append_range(axes, axesFrom(1, rank - 1));
  return axes;
}

/// Builds `Op` of x [N, C, …] in channels-last layout, with a result of shape `result`. `positions`
/// are the numbers of windows.
template <typename Op>
static FailureOr<Value> build(Conversion &node, Value x, Value weight,
                              const Convolution &convolution, ArrayRef<int64_t> positions,
                              ArrayRef<int64_t> result) {
  TensorBuilder &b = node.b;
  const Windows &windows = convolution.windows;
  int64_t rank = typeOf(x).getRank();
  // Backends without a convolution library materialize the windows, or their products with weights.
  Extents slid = {shapeOf(x)[0]};
  llvm::append_range(slid, positions);
  int64_t group = convolution.group, depth = shapeOf(weight)[1], channels = group * depth;
  slid.push_back(group > 1 && depth == 1 ? shapeOf(weight)[0] : channels);
  llvm::append_range(slid, windows.kernel);
  if (failed(checkAddressable(node, slid)))
    return failure();
  Extents order = channelsLast(rank), shape;
  for (int64_t axis : order)
    shape.push_back(result[axis]);
  Value y = Op::create(b, b.getLoc(), RankedTensorType::get(shape, typeOf(x).getElementType()),
                       b.transpose(x, order), weight, group, windows.before, windows.strides,
                       windows.dilations);
  return b.transpose(y, channelsFirst(rank));
}

FailureOr<Value> convolve(Conversion &node, Value x, Value weight, const Convolution &convolution,
                          ArrayRef<int64_t> result) {
  return build<ConvolveOp>(node, x, weight, convolution, result.drop_front(2), result);
}

FailureOr<Value> convolveTransposed(Conversion &node, Value x, Value weight,
                                    const Convolution &convolution, ArrayRef<int64_t> result) {
  return build<TransposedConvolveOp>(node, x, weight, convolution, shapeOf(x).drop_front(2),
                                     result);
}

} // namespace mtc::onnx
