//===- Clip.cpp - Clip ------------------------------------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"
#include "frontend/onnx/operators/support/Formulas.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Returns a bound that is an attribute (before version 11), if present.
std::optional<double> boundAttribute(NodeView &node, StringRef name) {
  if (node.version() >= 11 || !node.hasAttribute(name))
    return std::nullopt;
  return node.floating(name);
}

LogicalResult inferClip(Inference &node) {
  boundAttribute(node, "min");
  boundAttribute(node, "max");
  if (!node.hasOneElement(1) || !node.hasOneElement(2))
    return failure();
  return inferSame(node);
}

void evaluateClip(Inference &node) {
  dispatchNumber(node.elementType(0), [&](auto kind) {
    using T = decltype(kind);
    T low = std::numeric_limits<T>::lowest(), high = std::numeric_limits<T>::max();
    if constexpr (std::is_floating_point_v<T>) {
      // The attributes' defaults are the extreme values of f32.
      constexpr double greatest = std::numeric_limits<float>::max();
      double bound = node.version() < 11 ? greatest : INFINITY;
      low = static_cast<T>(boundAttribute(node, "min").value_or(-bound));
      high = static_cast<T>(boundAttribute(node, "max").value_or(bound));
    }
    if (node.has(1))
      low = node.tensor(1).value<T>();
    if (node.has(2))
      high = node.tensor(2).value<T>();
    node.fold(0, mapStored<T>(node.storedTensor(0), node.resultType(), [&](T x) {
                return x < low ? (low < high ? low : high) : (high < x ? high : x);
              }));
  });
}

/// max(x, low) with the gradient of x.
Value straightThrough(TensorBuilder &b, Value x, Value low) {
  // x - detach(x) is 0, with a derivative of 1.
  Value bound = b.add(low, b.sub(x, b.detach(x)));
  return b.select(b.compare(Predicate::Lt, x, low), bound, x);
}

/// As in PyTorch's clamp, the gradient at a constant bound is 0. At a computed bound, x and the
/// bound share the gradient, as in a maximum.
LogicalResult convertClip(Conversion &node) {
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  auto number = [&](size_t operand, StringRef name) -> Value {
    if (node.has(operand))
      return node.constant(operand) ? node.broadcastValue(operand, node.resultShape()) : Value();
    std::optional<double> attribute = boundAttribute(node, name);
    return attribute ? b.splat(x, *attribute) : Value();
  };
  Value low = number(1, "min"), high = number(2, "max");
  if (node.failed())
    return failure();
  if (node.op()->hasAttr(straightThroughAttribute))
    return node.result(0,
                       straightThrough(b, x, b.detach(node.broadcastValue(1, node.resultShape()))));
  if (node.has(1) && !low)
    x = b.max(x, node.broadcastValue(1, node.resultShape()));
  x = clip(b, x, low, high);
  if (node.has(2) && !high)
    x = b.min(x, node.broadcastValue(2, node.resultShape()));
  return node.result(0, x);
}

} // namespace

void addClipOperators(Operators &operators) {
  operators.add("Clip", 6, {.infer = inferClip, .evaluate = evaluateClip, .convert = convertClip});
}

} // namespace mtc::onnx
