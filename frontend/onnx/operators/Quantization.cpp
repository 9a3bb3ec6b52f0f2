//===- Quantization.cpp - Quantization operators ----------------------------------------------===//
//
// A quantized tensor x represents (x - zero point) * scale. Scales are per tensor, per axis, or per
// block along an axis. The stored elements are integers or 8-bit floats.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Blocks.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/MatMul.h"
#include "frontend/onnx/operators/support/Quantize.h"
#include "ir/builders/Shape.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

//===--- Scales -------------------------------------------------------------------------------===//

/// Returns the axis of per-axis scales, or the axis that is divided into blocks.
int64_t readAxis(NodeView &node) { return node.rank(0) ? node.axis("axis", 1, node.rank(0)) : 0; }

/// Checks that operand `i`, a scale or zero point, has one element, one element per index of the
/// axis, or operand 0's shape with the axis divided into blocks.
LogicalResult checkScale(Inference &node, size_t i) {
  if (!node.has(i) || (node.rank(i) <= 1 && node.type(i).getNumElements() == 1))
    return success();
  if (node.rank(0) == 0)
    return success(node.hasOneElement(i));
  int64_t axis = readAxis(node), block = node.integer("block_size", 0);
  if (node.failed())
    return failure();
  Extents expected(node.shape(0));
  if (block > 0)
    expected[axis] = ceilDivide(expected[axis], block);
  else
    expected = {expected[axis]};
  if (node.shape(i) != ArrayRef<int64_t>(expected))
    return node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(node.shape(i)) +
                        ", expected one element or " + shapeText(expected));
  return success();
}

LogicalResult checkScales(Inference &node) {
  return success(succeeded(checkScale(node, 1)) && succeeded(checkScale(node, 2)));
}

/// Broadcasts a scale or zero point to the shape of operand 0.
Value spread(Conversion &node, Value x) {
  TensorBuilder &b = node.b;
  ArrayRef<int64_t> shape = node.shape(0);
  if (typeOf(x).getRank() <= 1 && typeOf(x).getNumElements() == 1)
    return b.broadcastTo(b.reshape(x, {}), shape);
  int64_t axis = readAxis(node), block = node.integer("block_size", 0);
  if (block <= 0)
    return b.broadcast(x, otherAxes(shape.size(), {axis}), shape);
  return spreadBlocks(b, x, axis, block, shape);
}

/// Returns the element type of `output_dtype`; 0 selects the default.
Type outputElement(NodeView &node, Type byDefault) {
  return node.integer("output_dtype", 0) ? node.elementTypeOf("output_dtype") : byDefault;
}

//===--- QuantizeLinear -----------------------------------------------------------------------===//

/// The element type is the zero point's, `output_dtype`, or ui8 by default.
LogicalResult inferQuantize(Inference &node) {
  Type byDefault = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  if (node.has(2))
    byDefault = node.elementType(2);
  if (failed(checkScales(node)))
    return failure();
  return node.result(0, outputElement(node, byDefault), node.shape(0));
}

/// Returns operand 2, or 0, in the scale's float type.
Value zeroPoint(Conversion &node, Value scale) {
  Type element = typeOf(scale).getElementType();
  return node.has(2) ? spread(node, node.b.cast(node.value(2), element)) : node.b.splat(scale, 0.0);
}

/// Returns x / scale + zeroPoint as 8-bit floats. Values out of range saturate, or become infinite
/// or NaN.
Value quantizeToFloats(TensorBuilder &b, Value x, Value scale, Value zeroPoint, Type element,
                       bool saturates) {
  Value y = b.add(b.div(x, scale), zeroPoint);
  return saturates ? saturatingCast(b, y, element) : b.cast(y, element);
}

LogicalResult convertQuantize(Conversion &node) {
  bool saturates = node.flag("saturate", true);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Type wide = computeType(b, node.elementType(1));
  Value x = b.cast(node.value(0), wide), scale = spread(node, b.cast(node.value(1), wide));
  Value zero = zeroPoint(node, scale);
  Type element = node.resultType().getElementType();
  if (isa<FloatType>(element))
    return node.result(0, quantizeToFloats(b, x, scale, zero, element, saturates));
  return node.result(0, b.cast(quantize(b, x, scale, zero, element), storedElementType(element)));
}

//===--- DequantizeLinear ---------------------------------------------------------------------===//

/// The element type is `output_dtype`, or the scale's.
LogicalResult inferDequantize(Inference &node) {
  if (failed(checkScales(node)))
    return failure();
  return node.result(0, outputElement(node, node.elementType(1)), node.shape(0));
}

/// Returns whether two operands are the same value or equal constants.
bool isSame(const NodeView &a, size_t i, const NodeView &b, size_t k) {
  if (!a.has(i) || !b.has(k))
    return a.has(i) == b.has(k);
  if (a.operand(i) == b.operand(k))
    return true;
  std::optional<Tensor> x = a.constant(i), y = b.constant(k);
  return x && y && x->type() == y->type() && x->toAttribute() == y->toAttribute();
}

/// Returns the float value that a QuantizeLinear with this node's scale and zero point quantized to
/// operand 0, or null.
Value quantizedValue(Conversion &node) {
  auto quantize = node.operand(0).getDefiningOp<NodeOp>();
  if (!quantize || quantize.getOpType() != "QuantizeLinear" ||
      quantize.getDomain().value_or("") != node.domain())
    return {};
  Conversion from(quantize, node.program());
  bool isPair = isSame(from, 1, node, 1) && isSame(from, 2, node, 2) &&
                from.integer("axis", 1) == node.integer("axis", 1) &&
                from.integer("block_size", 0) == node.integer("block_size", 0) &&
                from.flag("saturate", true);
  return isPair && isa<FloatType>(from.elementType(0)) ? from.value(0) : Value();
}

/// Computes (x - zero point) * scale. A QuantizeLinear / DequantizeLinear pair with equal
/// parameters uses the straight-through estimator (Bengio et al., "Estimating or propagating
/// gradients through stochastic neurons", 2013): the gradient is passed through, and is 0 where the
/// value was out of range.
LogicalResult convertDequantize(Conversion &node) {
  TensorBuilder &b = node.b;
  Type element = node.resultType().getElementType(), quantizedType = node.elementType(0);
  Type wide = computeType(b, node.elementType(1));
  Value scale = spread(node, b.cast(node.value(1), wide)), zero = zeroPoint(node, scale);
  Value source = quantizedValue(node);
  if (!source) {
    Value y = b.mul(b.sub(b.cast(node.value(0), wide), zero), scale);
    return node.result(0, b.cast(y, element));
  }
  Value x = b.cast(source, wide);
  auto value = [&](Value q) { return b.mul(b.sub(q, zero), scale); };
  Value quantized =
      isa<FloatType>(quantizedType)
          ? b.cast(quantizeToFloats(b, x, scale, zero, quantizedType, /*saturates=*/true), wide)
          : quantize(b, x, scale, zero, quantizedType);
  Value y = b.detach(value(quantized));
  auto [minimum, maximum] = rangeOf(quantizedType);
  Value inside = b.detach(b.logicalAnd(b.compare(Predicate::Ge, x, value(b.splat(zero, minimum))),
                                       b.compare(Predicate::Le, x, value(b.splat(zero, maximum)))));
  // x - detach(x) is 0, with a derivative of 1.
  Value passed = b.select(inside, b.sub(x, b.detach(x)), b.splat(x, 0.0));
  return node.result(0, b.cast(b.add(y, passed), element));
}

//===--- DynamicQuantizeLinear ----------------------------------------------------------------===//

/// Results y, y_scale, y_zero_point: ui8, f32 scalar, ui8 scalar.
LogicalResult inferDynamicQuantize(Inference &node) {
  Type byte = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  return success(succeeded(node.result(0, byte, node.shape(0))) &&
                 succeeded(node.result(1, Float32Type::get(node.context()), {})) &&
                 succeeded(node.result(2, byte, {})));
}

/// The scale maps the range of the elements, extended to include 0, to 255 steps.
LogicalResult convertDynamicQuantize(Conversion &node) {
  TensorBuilder &b = node.b;
  Type byte = IntegerType::get(node.context(), 8, IntegerType::Unsigned);
  Value x = b.detach(node.value(0));
  SmallVector<int64_t> all = axesFrom(0, node.rank(0));
  Value minimum = b.reduce(ReductionKind::Min, x, all),
        maximum = b.reduce(ReductionKind::Max, x, all);
  Value zero = b.splat(minimum, 0.0);
  minimum = b.min(minimum, zero);
  Value range = b.sub(b.max(maximum, zero), minimum);
  // Any scale is valid if all elements are 0.
  Value isZero = b.compare(Predicate::Eq, range, zero);
  Value scale = b.select(isZero, b.splat(range, 1.0), b.mul(range, b.splat(range, 1.0 / 255)));
  Value zeroPoint = quantize(b, b.neg(minimum), scale, zero, byte);
  Value y = quantize(b, x, b.broadcastTo(scale, node.shape(0)),
                     b.broadcastTo(zeroPoint, node.shape(0)), byte);
  return success(succeeded(node.result(0, b.cast(y, byte))) && succeeded(node.result(1, scale)) &&
                 succeeded(node.result(2, b.cast(zeroPoint, byte))));
}

//===--- Integer matrix multiplication --------------------------------------------------------===//

/// Broadcasts a zero point or scale, operand `i`, to a matrix operand x. The operand is a scalar,
/// has one element per row of the left or column of the right matrix, or has the shape of x with
/// extent 1 along the other axis.
Value spreadOver(Conversion &node, size_t i, Value x, bool isLeft) {
  TensorBuilder &b = node.b;
  Value value = b.cast(node.value(i), b.getF64Type());
  ArrayRef<int64_t> shape = shapeOf(x);
  if (typeOf(value).getNumElements() == 1)
    return b.broadcastTo(b.reshape(value, {}), shape);
  if (typeOf(value).getRank() == 1 && isLeft)
    value = b.reshape(value, {shapeOf(value)[0], 1});
  return b.broadcastTo(value, shape);
}

/// Checks that operand `i` broadcasts to operand `x` as in `spreadOver`.
LogicalResult checkSpread(Inference &node, size_t i, size_t x, bool isLeft) {
  if (!node.has(i) || node.type(i).getNumElements() == 1)
    return success();
  Extents shape(node.shape(i));
  if (shape.size() == 1 && isLeft)
    shape.push_back(1);
  std::optional<Extents> both = broadcastShapes(shape, node.shape(x));
  if (both && ArrayRef<int64_t>(*both) == node.shape(x))
    return success();
  return node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(node.shape(i)) +
                      ", which does not match " + shapeText(node.shape(x)));
}

/// Multiplies the operands minus their zero points in f64, which represents sums of products of
/// 8-bit integers exactly.
Value multiply(Conversion &node, size_t lhs, size_t zeroOfLhs, size_t rhs, size_t zeroOfRhs) {
  TensorBuilder &b = node.b;
  auto factor = [&](size_t i, size_t zero, bool isLeft) {
    Value x = b.cast(node.value(i), b.getF64Type());
    return node.has(zero) ? b.sub(x, spreadOver(node, zero, x, isLeft)) : x;
  };
  return matMul(b, factor(lhs, zeroOfLhs, true), factor(rhs, zeroOfRhs, false), node.resultShape());
}

/// The result is i32.
LogicalResult inferMatMulInteger(Inference &node) {
  FailureOr<MatMulShapes> shapes = matMulShapes(node, 0, 1);
  if (failed(shapes) || failed(checkSpread(node, 2, 0, true)) ||
      failed(checkSpread(node, 3, 1, false)))
    return failure();
  return node.result(0, IntegerType::get(node.context(), 32), shapes->result);
}

LogicalResult convertMatMulInteger(Conversion &node) {
  return node.result(0, node.b.cast(multiply(node, 0, 2, 1, 3), node.b.getI32Type()));
}

/// Operands: a, its scale and zero point; b, its scale and zero point; the result's scale and zero
/// point.
LogicalResult inferQLinearMatMul(Inference &node) {
  FailureOr<MatMulShapes> shapes = matMulShapes(node, 0, 3);
  if (failed(shapes))
    return failure();
  for (size_t i : {1, 2, 4, 5, 6, 7})
    if (node.type(i).getNumElements() != 1)
      return node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(node.shape(i)) +
                          ", expected one element");
  return node.result(0, node.elementType(7), shapes->result);
}

LogicalResult convertQLinearMatMul(Conversion &node) {
  TensorBuilder &b = node.b;
  auto number = [&](size_t i) {
    return b.broadcastTo(b.reshape(b.cast(node.value(i), b.getF64Type()), {}), node.resultShape());
  };
  Value y = b.mul(multiply(node, 0, 2, 3, 5), b.mul(number(1), number(4)));
  Type element = node.resultType().getElementType();
  return node.result(0, b.cast(quantize(b, y, number(6), number(7), element), element));
}

} // namespace

void addQuantizationOperators(Operators &operators) {
  // onnxruntime's quantizers write its own operators for integers of 4 and 16 bits before opset 21.
  for (auto [domain, version] : {std::pair("", 10), std::pair("com.microsoft::", 1)}) {
    operators.add(std::string(domain) + "QuantizeLinear", version,
                  {.infer = inferQuantize,
                   .convert = convertQuantize,
                   .roles = {{1, OperandRole::QuantizationScale}},
                   .acceptsPacked = true});
    operators.add(std::string(domain) + "DequantizeLinear", version,
                  {.infer = inferDequantize,
                   .convert = convertDequantize,
                   .roles = {{1, OperandRole::QuantizationScale}},
                   .acceptsPacked = true});
  }
  operators.add("DynamicQuantizeLinear", 11,
                {.infer = inferDynamicQuantize, .convert = convertDynamicQuantize});
  operators.add("MatMulInteger", 10,
                {.infer = inferMatMulInteger, .convert = convertMatMulInteger});
  operators.add("QLinearMatMul", 10,
                {.infer = inferQLinearMatMul,
                 .convert = convertQLinearMatMul,
                 .roles = {{0, OperandRole::Factor},
                           {3, OperandRole::Factor},
                           {1, OperandRole::QuantizationScale},
                           {4, OperandRole::QuantizationScale},
                           {6, OperandRole::QuantizationScale}}});
}

} // namespace mtc::onnx
