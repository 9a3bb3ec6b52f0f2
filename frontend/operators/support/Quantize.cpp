//===- Quantize.cpp - Quantization of floats to an integer range ------------------------------===//

#include "frontend/operators/support/Quantize.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {

std::pair<double, double> integerRange(Type element) {
  auto width = static_cast<int>(element.getIntOrFloatBitWidth());
  if (element.isUnsignedInteger())
    return {0, std::ldexp(1.0, width) - 1};
  return {-std::ldexp(1.0, width - 1), std::ldexp(1.0, width - 1) - 1};
}

Value quantize(TensorBuilder &b, Value x, Value scale, Value zeroPoint, Type element) {
  Value y = b.add(RoundOp::create(b, b.div(x, scale)), zeroPoint);
  auto [low, high] = integerRange(element);
  return b.min(b.max(y, b.splat(y, low)), b.splat(y, high));
}

} // namespace mtc::onnx
