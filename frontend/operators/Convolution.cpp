//===- Convolution.cpp - Convolution and transposed convolution -------------------------------===//

#include "frontend/operators/Conversion.h"
#include "frontend/operators/Formulas.h"
#include "frontend/operators/Inference.h"
#include "frontend/operators/Operators.h"
#include "frontend/operators/Windows.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// The kernel's extents: of the weight, which the attribute must agree with.
FailureOr<Extents> weightKernel(NodeView &node) {
  Extents kernel(node.shape(1).drop_front(2));
  Extents said = node.integers("kernel_shape", kernel);
  if (node.failed())
    return failure();
  if (said != kernel)
    return node.failure("attribute kernel_shape = " + shapeText(said) + ", but the weight has " +
                        shapeText(kernel));
  return kernel;
}

/// How many parts the channels are split into, each with kernels of its own.
int64_t groupCount(NodeView &node) { return node.integer("group", 1); }

struct Convolution {
  int64_t group;
  Windows windows;

  using ReadWindows = FailureOr<Windows>(NodeView &, ArrayRef<int64_t>, ArrayRef<int64_t>);
  static FailureOr<Convolution> read(NodeView &node, ReadWindows readWindows) {
    int64_t group = groupCount(node);
    FailureOr<Extents> kernel = weightKernel(node);
    if (failed(kernel))
      return failure();
    FailureOr<Windows> windows = readWindows(node, node.shape(0).drop_front(2), *kernel);
    if (failed(windows))
      return failure();
    return Convolution{group, *windows};
  }
};

/// Operands 0 and 1 are of one float type and of rank 3 to 5.
LogicalResult checkOperands(Inference &node) {
  return success(node.floatElements(0) && node.sameElementType(0, 1) &&
                 node.hasRank(0, 3, 2 + MTC_MAX_WINDOW_AXES) &&
                 node.hasRank(1, node.rank(0), node.rank(0)));
}

LogicalResult checkBias(Inference &node, int64_t channels) {
  if (!node.has(2))
    return success();
  if (!node.sameElementType(0, 2))
    return failure();
  if (node.shape(2) != ArrayRef<int64_t>(channels))
    return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                        ", expected " + shapeText(channels));
  return success();
}

/// X [N, C, …], W [M, C / group, kernel…], B [M].
LogicalResult inferConv(Inference &node) {
  if (failed(checkOperands(node)))
    return failure();
  int64_t group = groupCount(node), channels = node.dim(0, 1), out = node.dim(1, 0);
  if (failed(weightKernel(node)))
    return failure();
  if (group < 1 || channels % group != 0 || out % group != 0)
    return node.failure("attribute group = " + Twine(group) + " does not divide " +
                        Twine(channels) + " and " + Twine(out) + " channels");
  if (node.dim(1, 1) != channels / group)
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected " + Twine(channels / group) + " on axis 1 (" + Twine(channels) +
                        " channels in " + Twine(group) + " groups)");
  FailureOr<Convolution> convolution = Convolution::read(node, readWindows);
  if (failed(convolution) || failed(checkBias(node, out)))
    return failure();
  return node.result(0, node.elementType(0), convolution->windows.resultShape(node.dim(0, 0), out));
}

/// X [N, C, …], W [C, M / group, kernel…], B [M].
LogicalResult inferConvTranspose(Inference &node) {
  if (failed(checkOperands(node)))
    return failure();
  int64_t group = groupCount(node), channels = node.dim(0, 1), out;
  if (failed(weightKernel(node)))
    return failure();
  if (group < 1 || channels % group != 0 || llvm::MulOverflow(node.dim(1, 1), group, out))
    return node.failure("attribute group = " + Twine(group) + " does not divide " +
                        Twine(channels) + " channels");
  if (node.dim(1, 0) != channels)
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected " + Twine(channels) + " on axis 0");
  FailureOr<Convolution> convolution = Convolution::read(node, readTransposedWindows);
  if (failed(convolution) || failed(checkBias(node, out)))
    return failure();
  return node.result(0, node.elementType(0), convolution->windows.resultShape(node.dim(0, 0), out));
}

/// The permutations that take [N, C, i…] to channels last, and back.
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

/// `Op` on channels last, and the bias. Windows have `positions`.
template <typename Op>
LogicalResult convertConvolution(Conversion &node, const Convolution &convolution,
                                 ArrayRef<int64_t> positions) {
  TensorBuilder &b = node.b;
  const Windows &windows = convolution.windows;
  int64_t rank = node.rank(0);
  // Where no library convolves, windows are values, or products of them with weights.
  Extents slid = {node.dim(0, 0)};
  llvm::append_range(slid, positions);
  int64_t group = convolution.group, channels = group * node.dim(1, 1);
  slid.push_back(group > 1 && node.dim(1, 1) == 1 ? node.dim(1, 0) : channels);
  llvm::append_range(slid, windows.kernel);
  if (failed(checkAddressable(node, slid)))
    return failure();
  Extents order = channelsLast(rank), shape;
  for (int64_t axis : order)
    shape.push_back(node.resultShape()[axis]);
  Value y = Op::create(b, b.getLoc(), RankedTensorType::get(shape, node.elementType(0)),
                       b.transpose(node.value(0), order), node.value(1), group, windows.before,
                       windows.strides, windows.dilations);
  y = b.transpose(y, channelsFirst(rank));
  return node.result(0,
                     node.has(2) ? b.add(y, perChannel(b, node.value(2), node.resultShape())) : y);
}

LogicalResult convertConv(Conversion &node) {
  FailureOr<Convolution> convolution = Convolution::read(node, readWindows);
  if (failed(convolution))
    return failure();
  return convertConvolution<ConvolveOp>(node, *convolution, node.resultShape().drop_front(2));
}

/// The adjoint of convolution: each element of x adds a window of weights to the result.
LogicalResult convertConvTranspose(Conversion &node) {
  FailureOr<Convolution> convolution = Convolution::read(node, readTransposedWindows);
  if (failed(convolution))
    return failure();
  return convertConvolution<TransposedConvolveOp>(node, *convolution, node.shape(0).drop_front(2));
}

} // namespace

void registerConvolutionOperators(Operators &operators) {
  operators.add("Conv", 1, {.infer = inferConv, .convert = convertConv});
  operators.add("ConvTranspose", 1, {.infer = inferConvTranspose, .convert = convertConvTranspose});
}

} // namespace mtc::onnx
