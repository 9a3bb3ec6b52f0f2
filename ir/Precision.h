//===- Precision.h - What a precision stores and needs ----------------------------------------===//

#ifndef MTC_IR_PRECISION_H
#define MTC_IR_PRECISION_H

#include "ir/Mtc.h"

namespace mtc {

/// Returns the type in which a precision stores f32 values between operations.
mlir::FloatType storageTypeOf(Precision precision, mlir::MLIRContext *context);
/// Returns whether that type is narrower than f32.
bool storesNarrow(Precision precision);
/// Returns whether gradients would underflow in that type, so that the loss is scaled.
bool needsLossScaling(Precision precision);

} // namespace mtc

#endif // MTC_IR_PRECISION_H
