//===- Dropout.cpp - Builders of dropout ------------------------------------------------------===//

#include "ir/builders/Dropout.h"

#include <cmath>

using namespace mlir;
using namespace mtc;

/// A signed random 32-bit integer is at least -2^31 + floor(ratio 2^32) with probability 1 - ratio.
Value mtc::buildKeepMask(TensorBuilder &b, Value bits, const Number &ratio) {
  const Number dropped = scale(b, ratio, 0x1p32);
  if (!dropped.setting)
    return b.compare(Predicate::Ge, bits, b.splat(bits, std::floor(dropped.constant) - 0x1p31));
  // The conversion rounds towards 0.
  Value count = b.cast(dropped.setting, b.getI64Type());
  return b.compare(Predicate::Ge, bits,
                   broadcastLike(b, b.sub(count, b.splat(count, 0x1p31)), bits));
}

Value mtc::buildDropout(TensorBuilder &b, Value x, Value mask, const Number &ratio) {
  const Number kept = complement(b, ratio);
  const Number factor = kept.setting ? Number(b.div(b.splat(kept.setting, 1.0), kept.setting))
                                     : Number(1.0 / kept.constant);
  return b.select(mask, b.mul(x, broadcastLike(b, factor, x)), b.splat(x, 0.0));
}
