//===- TorchFunctions.cpp - Functions of PyTorch with a gradient of their own -----------------===//
//
// These are not ONNX operators; passes that recognize exported patterns create them. The comment of
// each function states its derivative where that of the formula is infinite or NaN.
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Returns a value that does not depend on x, with this derivative with respect to x.
Value withDerivative(TensorBuilder &b, Value value, Value x, Value derivative) {
  Value isFinite = b.compare(Predicate::Lt, b.abs(x), b.splat(x, INFINITY));
  // x - detach(x) is 0, with a derivative of 1.
  Value passed = b.select(isFinite, b.sub(x, b.detach(x)), b.splat(x, 0.0));
  return b.add(value, b.mul(passed, b.detach(derivative)));
}

/// The operands of a node with two operands, broadcast and in at least f32.
struct Operands {
  explicit Operands(Conversion &node)
      : type(node.resultType().getElementType()), wide(computeType(node.b, type)),
        first(node.b.cast(node.broadcastValue(0, node.resultShape()), wide)),
        second(node.b.cast(node.broadcastValue(1, node.resultShape()), wide)) {}
  Type type, wide;
  Value first, second;
};

/// -t max(log p, -100) - (1 - t) max(log(1 - p), -100). The derivative with respect to p is
/// (p - t) / max(p (1 - p), 1e-12), which is finite at p = 0 and p = 1.
LogicalResult convertBinaryCrossEntropy(Conversion &node) {
  TensorBuilder &b = node.b;
  Operands operands(node);
  Value p = b.detach(operands.first), t = operands.second;
  Value one = b.splat(p, 1.0), minimum = b.splat(p, -100.0), complement = b.sub(one, p);
  Value loss = b.sub(b.mul(b.sub(t, one), b.max(b.log(complement), minimum)),
                     b.mul(t, b.max(b.log(p), minimum)));
  Value variance = b.max(b.mul(complement, p), b.splat(p, 1e-12));
  Value result = withDerivative(b, loss, operands.first, b.div(b.sub(p, t), variance));
  return node.result(0, b.cast(result, operands.type));
}

/// x log y, and 0 with a derivative of 0 where x = 0.
LogicalResult convertXLogY(Conversion &node) {
  TensorBuilder &b = node.b;
  Operands operands(node);
  Value x = operands.first, y = operands.second, zero = b.splat(x, 0.0);
  Value product = b.select(b.isNan(y), y, b.mul(x, b.log(y)));
  Value result = b.select(b.compare(Predicate::Eq, x, zero), zero, product);
  return node.result(0, b.cast(result, operands.type));
}

/// log(e^a + e^b) as max(a, b) + log(1 + e^-|a - b|), which does not overflow.
LogicalResult convertLogAddExp(Conversion &node) {
  TensorBuilder &b = node.b;
  Operands operands(node);
  Value x = operands.first, y = operands.second;
  // The difference of equal infinities is NaN.
  Value difference = b.select(b.compare(Predicate::Eq, x, y), b.splat(x, 0.0), b.sub(x, y));
  Value result = b.add(b.max(x, y), b.log1p(b.exp(b.neg(b.abs(difference)))));
  return node.result(0, b.cast(result, operands.type));
}

/// The angle of (x, y), from -pi to pi; 0 with derivatives of 0 at (0, 0).
LogicalResult convertAtan2(Conversion &node) {
  TensorBuilder &b = node.b;
  Operands operands(node);
  Value y = b.detach(operands.first), x = b.detach(operands.second);
  Value zero = b.splat(x, 0.0), pi = b.splat(x, std::numbers::pi);
  Value square = b.add(b.mul(x, x), b.mul(y, y));
  Value isOrigin = b.compare(Predicate::Eq, square, zero);
  Value angle = AtanOp::create(b, b.div(y, b.select(isOrigin, b.splat(x, 1.0), x)));
  Value turn = b.select(b.compare(Predicate::Lt, y, zero), b.neg(pi), pi);
  Value result = b.select(b.compare(Predicate::Lt, x, zero), b.add(angle, turn), angle);
  Value divisor = b.select(isOrigin, b.splat(x, 1.0), square);
  result = withDerivative(b, result, operands.first, b.div(x, divisor));
  result = withDerivative(b, result, operands.second, b.neg(b.div(y, divisor)));
  return node.result(0, b.cast(result, operands.type));
}

} // namespace

void addTorchFunctionsOperators(Operators &operators) {
  operators.add("mtc::BinaryCrossEntropy", 1, {.convert = convertBinaryCrossEntropy});
  operators.add("mtc::XLogY", 1, {.convert = convertXLogY});
  operators.add("mtc::LogAddExp", 1, {.convert = convertLogAddExp});
  operators.add("mtc::Atan2", 1, {.convert = convertAtan2});
}

} // namespace mtc::onnx
