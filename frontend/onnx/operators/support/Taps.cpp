//===- Taps.cpp - Interpolation taps along an axis --------------------------------------------===//

#include "frontend/onnx/operators/support/Taps.h"

using namespace mlir;

namespace mtc::onnx {

Tap tapAt(TensorBuilder &b, Value place, Value weight, int64_t extent) {
  Value low = b.splat(place, 0.0), high = b.splat(place, static_cast<double>(extent - 1));
  Value isInside =
      b.logicalAnd(b.compare(Predicate::Ge, place, low), b.compare(Predicate::Le, place, high));
  Value isAfter = b.compare(Predicate::Gt, place, high);
  Value clamped = b.select(isInside, place, b.select(isAfter, high, low));
  return {b.cast(b.detach(clamped), b.getI64Type()),
          b.select(isInside, weight, b.splat(place, 0.0))};
}

std::array<Tap, 2> linearTaps(TensorBuilder &b, Value place, int64_t extent) {
  Value first = FloorOp::create(b, place);
  Value one = b.splat(place, 1.0), fraction = b.sub(place, first);
  return {tapAt(b, first, b.sub(one, fraction), extent),
          tapAt(b, b.add(first, one), fraction, extent)};
}

} // namespace mtc::onnx
