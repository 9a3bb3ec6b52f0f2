//===- Convolution.cpp - Convolution and transposed convolution -------------------------------===//

#include "frontend/onnx/operators/support/Convolution.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/Quantize.h"
#include "ir/builders/Shape.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// X [N, C, …], W [M, C / group, kernel…], B [M].
LogicalResult inferConv(Inference &node) {
  if (failed(checkConvolutionOperands(node)))
    return failure();
  FailureOr<Extents> shape = convolvedShape(node, node.shape(0), 1);
  if (failed(shape) || failed(checkConvolutionBias(node, node.dim(1, 0))))
    return failure();
  return node.result(0, node.elementType(0), *shape);
}

/// X [N, C, …], W [C, M / group, kernel…], B [M].
LogicalResult inferConvTranspose(Inference &node) {
  if (failed(checkConvolutionOperands(node)))
    return failure();
  int64_t group = groupCount(node), channels = node.dim(0, 1), out;
  if (failed(weightKernel(node, 1)))
    return failure();
  if (group < 1 || channels % group != 0 || llvm::MulOverflow(node.dim(1, 1), group, out))
    return node.failure("attribute group = " + Twine(group) + " does not divide " +
                        Twine(channels) + " channels");
  if (node.dim(1, 0) != channels)
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected " + Twine(channels) + " on axis 0");
  FailureOr<Convolution> convolution =
      Convolution::read(node, readTransposedWindows, node.shape(0));
  if (failed(convolution) || failed(checkConvolutionBias(node, out)))
    return failure();
  return node.result(0, node.elementType(0), convolution->windows.resultShape(node.dim(0, 0), out));
}

/// Sets the result to y plus the bias, if present.
LogicalResult addBias(Conversion &node, FailureOr<Value> y) {
  if (failed(y))
    return failure();
  TensorBuilder &b = node.b;
  return node.result(0, hasConvolutionBias(node, node.resultShape()[1])
                            ? b.add(*y, perChannel(b, node.value(2), node.resultShape()))
                            : *y);
}

LogicalResult convertConv(Conversion &node) {
  FailureOr<Convolution> convolution = Convolution::read(node, readWindows, node.shape(0));
  if (failed(convolution))
    return failure();
  return addBias(node,
                 convolve(node, node.value(0), node.value(1), *convolution, node.resultShape()));
}

LogicalResult convertConvTranspose(Conversion &node) {
  FailureOr<Convolution> convolution =
      Convolution::read(node, readTransposedWindows, node.shape(0));
  if (failed(convolution))
    return failure();
  return addBias(node, convolveTransposed(node, node.value(0), node.value(1), *convolution,
                                          node.resultShape()));
}

//===--- CausalConvWithState ------------------------------------------------------------------===//

bool readSwish(NodeView &node) {
  return node.choice("activation", "none", {"none", "silu", "swish"}) != "none";
}

/// X [N, C, L], W [C, 1, K], B [C], and the K - 1 elements that precede X, [N, C, K - 1].
LogicalResult inferCausalConv(Inference &node) {
  readSwish(node);
  if (node.failed() || !node.hasRank(0, 3, 3) || !node.hasRank(1, 3, 3))
    return failure();
  int64_t batch = node.dim(0, 0), channels = node.dim(0, 1), kernel = node.dim(1, 2);
  if (kernel < 1)
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected a kernel");
  if (!node.hasShape(1, {channels, 1, kernel}) || !node.hasShape(2, channels) ||
      !node.hasShape(3, {batch, channels, kernel - 1}))
    return failure();
  return success(succeeded(node.result(0, node.type(0))) &&
                 succeeded(node.result(1, node.elementType(0), {batch, channels, kernel - 1})));
}

/// Computes a causal depthwise convolution, and returns the last K - 1 elements as the state for
/// the next call.
LogicalResult convertCausalConv(Conversion &node) {
  TensorBuilder &b = node.b;
  Type element = node.elementType(0), type = computeType(b, element);
  int64_t batch = node.dim(0, 0), channels = node.dim(0, 1), length = node.dim(0, 2);
  int64_t kernel = node.dim(1, 2), before = kernel - 1;
  Value x = node.value(0);
  if (before > 0)
    x = node.has(3) ? b.concatenate({node.value(3), x}, 2)
                    : b.pad(x, {0, 0, before}, {0, 0, 0}, {0, 0, 0});
  Convolution convolution{channels, {{kernel}, {1}, {1}, {0}, {0}, {length}}};
  FailureOr<Value> y =
      convolve(node, b.cast(x, type), b.cast(node.value(1), type), convolution, node.shape(0));
  if (failed(y))
    return failure();
  if (node.has(2))
    y = b.add(*y, perChannel(b, b.cast(node.value(2), type), node.shape(0)));
  if (readSwish(node))
    y = b.mul(*y, b.logistic(*y));
  if (failed(node.result(0, b.cast(*y, element))))
    return failure();
  return node.result(1, b.slice(x, {0, 0, length}, {batch, channels, before}, {1, 1, 1}));
}

//===--- Integer convolutions -----------------------------------------------------------------===//

/// Subtracts the zero point in operand `i`: a scalar, or one value per channel along `axis`.
Value withoutZeroPoint(Conversion &node, Value x, size_t i, int64_t axis) {
  TensorBuilder &b = node.b;
  if (!node.has(i))
    return x;
  Value zero = b.cast(node.value(i), typeOf(x).getElementType());
  zero = typeOf(zero).getNumElements() == 1
             ? b.broadcastTo(b.reshape(zero, {}), shapeOf(x))
             : b.broadcast(zero, otherAxes(typeOf(x).getRank(), axis), shapeOf(x));
  return b.sub(x, zero);
}

/// Convolves integers X [N, C, …] and W [M, C / group, kernel…] minus their zero points in f64,
/// which represents sums of products of 8-bit integers exactly. The padding of X represents 0.
FailureOr<Value> convolveIntegers(Conversion &node, size_t weight, size_t zeroOfX,
                                  size_t zeroOfWeight) {
  TensorBuilder &b = node.b;
  FailureOr<Convolution> convolution = Convolution::read(node, readWindows, node.shape(0), weight);
  if (failed(convolution))
    return failure();
  Value x = withoutZeroPoint(node, b.cast(node.value(0), b.getF64Type()), zeroOfX, 1);
  Value w = withoutZeroPoint(node, b.cast(node.value(weight), b.getF64Type()), zeroOfWeight, 0);
  return convolve(node, x, w, *convolution, node.resultShape());
}

/// The result is i32.
LogicalResult inferConvInteger(Inference &node) {
  FailureOr<Extents> shape = convolvedShape(node, node.shape(0), 1);
  if (failed(shape) || !node.hasOneElement(2))
    return failure();
  return node.result(0, IntegerType::get(node.context(), 32), *shape);
}

LogicalResult convertConvInteger(Conversion &node) {
  FailureOr<Value> y = convolveIntegers(node, 1, 2, 3);
  return failed(y) ? failure() : node.result(0, node.b.cast(*y, node.b.getI32Type()));
}

/// Operands are scales and zero points of X, W and the result; those of W may be per channel. B [M]
/// is an i32 vector, quantized with the product of the scales of X and W.
LogicalResult inferQLinearConv(Inference &node) {
  FailureOr<Extents> shape = convolvedShape(node, node.shape(0), 3);
  if (failed(shape))
    return failure();
  for (size_t i : {1, 2, 6, 7})
    if (!node.hasOneElement(i))
      return failure();
  for (size_t i : {4, 5, 8})
    if (node.has(i) && node.shape(i) != ArrayRef<int64_t>(node.dim(3, 0)) &&
        (i == 8 || !node.hasOneElement(i)))
      return node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(node.shape(i)) +
                          ", expected " + shapeText(node.dim(3, 0)));
  return node.result(0, node.elementType(7), *shape);
}

LogicalResult convertQLinearConv(Conversion &node) {
  FailureOr<Value> sums = convolveIntegers(node, 3, 2, 5);
  if (failed(sums))
    return failure();
  TensorBuilder &b = node.b;
  Type f64 = b.getF64Type();
  ArrayRef<int64_t> shape = node.resultShape();
  auto number = [&](size_t i) {
    return b.broadcastTo(b.reshape(b.cast(node.value(i), f64), {}), shape);
  };
  Value scale = typeOf(node.value(4)).getNumElements() == 1
                    ? number(4)
                    : perChannel(b, b.cast(node.value(4), f64), shape);
  Value y = *sums;
  if (node.has(8))
    y = b.add(y, perChannel(b, b.cast(node.value(8), f64), shape));
  y = b.mul(y, b.mul(number(1), scale));
  Type element = node.resultType().getElementType();
  return node.result(0, b.cast(quantize(b, y, number(6), number(7), element), element));
}

} // namespace

void addConvolutionOperators(Operators &operators) {
  operators.add("Conv", 1,
                {.infer = inferConv,
                 .convert = convertConv,
                 .roles = {{0, OperandRole::Factor},
                           {1, OperandRole::Factor},
                           {2, OperandRole::BiasOrScale}}});
  operators.add("ConvTranspose", 1,
                {.infer = inferConvTranspose,
                 .convert = convertConvTranspose,
                 .roles = {{0, OperandRole::Factor},
                           {1, OperandRole::Factor},
                           {2, OperandRole::BiasOrScale}}});
  operators.add("CausalConvWithState", 27,
                {.infer = inferCausalConv,
                 .convert = convertCausalConv,
                 .roles = {{0, OperandRole::Factor},
                           {1, OperandRole::Factor},
                           {2, OperandRole::BiasOrScale}}});
  operators.add("ConvInteger", 10,
                {.infer = inferConvInteger,
                 .convert = convertConvInteger,
                 .roles = {{0, OperandRole::Factor}, {1, OperandRole::Factor}}});
  operators.add("QLinearConv", 10,
                {.infer = inferQLinearConv,
                 .convert = convertQLinearConv,
                 .roles = {{1, OperandRole::QuantizationScale},
                           {4, OperandRole::QuantizationScale},
                           {6, OperandRole::QuantizationScale}}});
}

} // namespace mtc::onnx
