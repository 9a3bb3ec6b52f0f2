//===- Quantize.cpp - Quantization of floats to integers or 8-bit floats ----------------------===//

#include "frontend/onnx/operators/support/Quantize.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {

std::pair<double, double> rangeOf(Type element) {
  if (auto floating = dyn_cast<FloatType>(element)) {
    llvm::APFloat largest = llvm::APFloat::getLargest(floating.getFloatSemantics());
    bool losesInfo = false;
    largest.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return {-largest.convertToDouble(), largest.convertToDouble()};
  }
  auto width = static_cast<int>(element.getIntOrFloatBitWidth());
  if (element.isUnsignedInteger())
    return {0, std::ldexp(1.0, width) - 1};
  return {-std::ldexp(1.0, width - 1), std::ldexp(1.0, width - 1) - 1};
}

Value saturatingCast(TensorBuilder &b, Value x, Type element) {
  // The source must represent the bounds.
  Type source = typeOf(x).getElementType();
  if (!isa<FloatType>(source) || source.getIntOrFloatBitWidth() < 16)
    x = b.cast(x, b.getF32Type());
  auto [minimum, maximum] = rangeOf(element);
  Value low = b.splat(x, minimum), high = b.splat(x, maximum);
  // Comparisons with NaN are false.
  x = b.select(b.compare(Predicate::Gt, x, high), high, x);
  x = b.select(b.compare(Predicate::Lt, x, low), low, x);
  return b.cast(x, element);
}

Value quantize(TensorBuilder &b, Value x, Value scale, Value zeroPoint, Type element) {
  Value y = b.add(RoundOp::create(b, b.div(x, scale)), zeroPoint);
  auto [low, high] = rangeOf(element);
  return b.min(b.max(y, b.splat(y, low)), b.splat(y, high));
}

} // namespace mtc::onnx
