//===- Dropout.cpp - Builders of dropout ------------------------------------------------------===//

#include "ir/builders/Dropout.h"

#include <cmath>

using namespace mlir;
using namespace mtc;

/// A signed random 32-bit integer is at least -2^31 + ratio 2^32 with probability 1 - ratio.
Value mtc::buildKeepMask(TensorBuilder &b, Value bits, double ratio) {
  const double threshold = std::floor(std::ldexp(ratio, 32)) - std::ldexp(1.0, 31);
  return b.compare(Predicate::Ge, bits, b.splat(bits, threshold));
}

Value mtc::buildDropout(TensorBuilder &b, Value x, Value mask, double ratio) {
  return b.select(mask, b.mul(x, b.splat(x, 1.0 / (1.0 - ratio))), b.splat(x, 0.0));
}
