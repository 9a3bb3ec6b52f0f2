//===- Clip.cpp - Values between bounds -------------------------------------------------------===//

#include "frontend/operators/Conversion.h"
#include "frontend/operators/Evaluate.h"
#include "frontend/operators/Formulas.h"
#include "frontend/operators/Operators.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// A bound before version 11, when bounds were attributes; nothing where it is absent.
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
    std::vector<T> values = node.tensor(0).compactValues<T>();
    for (T &x : values)
      x = x < low ? (low < high ? low : high) : (high < x ? high : x);
    node.fold(0, Tensor::fromValues<T>(node.resultType(), values));
  });
}

LogicalResult convertClip(Conversion &node) {
  Value x = node.value(0);
  auto bound = [&](size_t operand, StringRef name) -> Value {
    if (node.has(operand))
      return node.broadcastValue(operand, node.resultShape());
    std::optional<double> attribute = boundAttribute(node, name);
    return attribute ? node.b.splat(x, *attribute) : Value();
  };
  Value low = bound(1, "min"), high = bound(2, "max");
  if (node.failed())
    return failure();
  return node.result(0, clip(node.b, x, low, high));
}

} // namespace

void registerClipOperators(Operators &operators) {
  operators.add("Clip", 6, {.infer = inferClip, .evaluate = evaluateClip, .convert = convertClip});
}

} // namespace mtc::onnx
