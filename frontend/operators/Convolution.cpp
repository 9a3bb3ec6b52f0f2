//===- Convolution.cpp - Convolution: types only ----------------------------------------------===//

#include "frontend/operators/Inference.h"
#include "frontend/operators/Operators.h"
#include "frontend/operators/Windows.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// The kernel's extents: of the weight, which the attribute must agree with.
FailureOr<Extents> weightKernel(Inference &node) {
  Extents kernel(node.shape(1).drop_front(2));
  Extents said = node.integers("kernel_shape", kernel);
  if (node.failed())
    return failure();
  if (said != kernel)
    return node.failure("attribute kernel_shape = " + shapeText(said) + ", but the weight has " +
                        shapeText(kernel));
  return kernel;
}

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
  FailureOr<Extents> kernel = weightKernel(node);
  if (failed(kernel))
    return failure();
  if (group < 1 || channels % group != 0 || out % group != 0)
    return node.failure("attribute group = " + Twine(group) + " does not divide " +
                        Twine(channels) + " and " + Twine(out) + " channels");
  if (node.dim(1, 1) != channels / group)
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected " + Twine(channels / group) + " on axis 1 (" + Twine(channels) +
                        " channels in " + Twine(group) + " groups)");
  FailureOr<Windows> windows = readWindows(node, node.shape(0).drop_front(2), *kernel);
  if (failed(windows) || failed(checkBias(node, out)))
    return failure();
  return node.result(0, node.elementType(0), windows->resultShape(node.dim(0, 0), out));
}

/// X [N, C, …], W [C, M / group, kernel…], B [M].
LogicalResult inferConvTranspose(Inference &node) {
  if (failed(checkOperands(node)))
    return failure();
  int64_t group = node.integer("group", 1), channels = node.dim(0, 1), out;
  FailureOr<Extents> kernel = weightKernel(node);
  if (failed(kernel))
    return failure();
  if (group < 1 || channels % group != 0 || llvm::MulOverflow(node.dim(1, 1), group, out))
    return node.failure("attribute group = " + Twine(group) + " does not divide " +
                        Twine(channels) + " channels");
  if (node.dim(1, 0) != channels)
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected " + Twine(channels) + " on axis 0");
  FailureOr<Windows> windows = readTransposedWindows(node, node.shape(0).drop_front(2), *kernel);
  if (failed(windows) || failed(checkBias(node, out)))
    return failure();
  return node.result(0, node.elementType(0), windows->resultShape(node.dim(0, 0), out));
}

} // namespace

void registerConvolutionOperators(Operators &operators) {
  operators.add("Conv", 1, {.infer = inferConv});
  operators.add("ConvTranspose", 1, {.infer = inferConvTranspose});
}

} // namespace mtc::onnx
