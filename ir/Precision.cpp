//===- Precision.cpp - What a precision stores and needs --------------------------------------===//

#include "ir/Precision.h"

using namespace mlir;
using namespace mtc;

static MtcType storageCode(Precision precision) {
  switch (precision) {
  case Precision::F32:
  case Precision::TF32:
    return MTC_F32;
  case Precision::BF16:
    return MTC_BF16;
  case Precision::F16:
    return MTC_F16;
  }
  llvm_unreachable("all precisions are handled");
}

FloatType mtc::storageTypeOf(Precision precision, MLIRContext *context) {
  return cast<FloatType>(typeOfCode(storageCode(precision), context));
}

bool mtc::storesNarrow(Precision precision) {
  return mtc_is_narrow_float(storageCode(precision)) != 0;
}

bool mtc::needsLossScaling(Precision precision) {
  return mtc_has_small_range(storageCode(precision)) != 0;
}
