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

struct Convolution {
  int64_t group;
  Windows windows;

  using ReadWindows = FailureOr<Windows>(NodeView &, ArrayRef<int64_t>, ArrayRef<int64_t>);
  static FailureOr<Convolution> read(NodeView &node, ReadWindows readWindows) {
    int64_t group = node.integer("group", 1);
    FailureOr<Extents> kernel = weightKernel(node);
    if (failed(kernel))
      return failure();
    FailureOr<Windows> windows = readWindows(node, node.shape(0).drop_front(2), *kernel);
    if (failed(windows))
      return failure();
    return Convolution{group, *windows};
  }
};

/// Operands 0 and 1 are of one float type and rank of at least 3, the bias has `channels` elements.
LogicalResult checkOperands(Inference &node) {
  return success(node.floatElements(0) && node.sameElementType(0, 1) && node.hasRank(0, 3) &&
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
  int64_t group = node.integer("group", 1), channels = node.dim(0, 1), out = node.dim(1, 0);
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
  int64_t group = node.integer("group", 1), channels = node.dim(0, 1), out;
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

/// An axis of groups in place of `axis`, which becomes the axis behind it.
Value grouped(TensorBuilder &b, Value x, int64_t axis, int64_t groups) {
  Extents shape(shapeOf(x));
  shape[axis] /= groups;
  shape.insert(shape.begin() + axis, groups);
  return b.reshape(x, shape);
}

/// The weights [group, M / group, C / group, kernel…] or, of a transposed convolution, [group,
/// C / group, M / group, kernel…] for each of the batch: [N, group, …].
FailureOr<Value> weightsOfBatch(Conversion &node, int64_t group) {
  TensorBuilder &b = node.b;
  Value weights = grouped(b, node.value(1), 0, group);
  Extents shape(shapeOf(weights));
  shape.insert(shape.begin(), node.dim(0, 0));
  if (failed(checkAddressable(node, shape)))
    return failure();
  return b.broadcast(weights, {0}, shape);
}

LogicalResult addBias(Conversion &node, Value y) {
  TensorBuilder &b = node.b;
  y = b.reshape(y, node.resultShape());
  return node.result(0,
                     node.has(2) ? b.add(y, perChannel(b, node.value(2), node.resultShape())) : y);
}

/// y[n, g, m, o] = sum over c, k of w[g, m, c, k] * x[n, g, c, o * stride + k * dilation - before]:
/// a contraction with the windows. Where each of several groups has one channel there is little to
/// contract, and products are added up while the windows are read.
LogicalResult convertConv(Conversion &node) {
  FailureOr<Convolution> convolution = Convolution::read(node, readWindows);
  if (failed(convolution))
    return failure();
  TensorBuilder &b = node.b;
  int64_t spatial = node.rank(0) - 2, group = convolution->group;
  FailureOr<Value> windows =
      slide(node, b, grouped(b, node.value(0), 1, group), convolution->windows, 0.0);
  FailureOr<Value> weights = weightsOfBatch(node, group);
  if (failed(windows) || failed(weights))
    return failure();
  if (group == 1 || node.dim(1, 1) != 1) {
    SmallVector<int64_t> taps = axesFrom(3 + spatial, 3 + 2 * spatial), summed{2};
    llvm::append_range(summed, taps);
    return addBias(
        node, b.contract(*weights, *windows, {0, 1}, {0, 1}, axesFrom(3, 4 + spatial), summed));
  }
  // [N, group, M / group, o…, k…]
  Extents shape = {node.dim(0, 0), group, node.dim(1, 0) / group};
  llvm::append_range(shape, convolution->windows.output);
  llvm::append_range(shape, convolution->windows.kernel);
  if (failed(checkAddressable(node, shape)))
    return failure();
  Extents kernels(shapeOf(*weights)), positions(shapeOf(*windows));
  kernels.erase(kernels.begin() + 3);
  positions.erase(positions.begin() + 2);
  Value w = b.broadcast(b.reshape(*weights, kernels), axesFrom(3, 3 + spatial), shape);
  Value x = b.broadcast(b.reshape(*windows, positions), {2}, shape);
  return addBias(node, b.sum(b.mul(w, x), axesFrom(3 + spatial, 3 + 2 * spatial)));
}

/// The adjoint of convolution: each element of x adds a window of weights to the result,
/// y[n, g, m, i] = sum over c, o, k with o * stride + k * dilation = before + i of
/// w[g, c, m, k] * x[n, g, c, o].
LogicalResult convertConvTranspose(Conversion &node) {
  FailureOr<Convolution> convolution = Convolution::read(node, readTransposedWindows);
  if (failed(convolution))
    return failure();
  TensorBuilder &b = node.b;
  const Windows &windows = convolution->windows;
  int64_t spatial = node.rank(0) - 2, group = convolution->group;
  Extents all(node.shape(0).take_front(1));
  llvm::append_range(all, node.resultShape().drop_front(1).take_front(1));
  llvm::append_range(all, node.shape(0).drop_front(2));
  llvm::append_range(all, windows.kernel);
  FailureOr<Value> weights = weightsOfBatch(node, group);
  if (failed(checkAddressable(node, all)) || failed(weights))
    return failure();
  // [N, group, M / group, k…, o…]
  Value products =
      b.contract(*weights, grouped(b, node.value(0), 1, group), {0, 1}, {0, 1}, {2}, {2});
  SmallVector<int64_t> order{0, 1, 2};
  llvm::append_range(order, axesFrom(3 + spatial, 3 + 2 * spatial));
  llvm::append_range(order, axesFrom(3, 3 + spatial));
  Extents shape(node.resultShape());
  shape[1] /= group;
  shape.insert(shape.begin() + 1, group);
  return addBias(node, b.overlapAdd(b.transpose(products, order), axesFrom(3, 3 + spatial),
                                    windows.before, windows.strides, windows.dilations, shape));
}

} // namespace

void registerConvolutionOperators(Operators &operators) {
  operators.add("Conv", 1, {.infer = inferConv, .convert = convertConv});
  operators.add("ConvTranspose", 1, {.infer = inferConvTranspose, .convert = convertConvTranspose});
}

} // namespace mtc::onnx
