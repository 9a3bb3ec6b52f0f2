//===- Dropout.h - Builders of dropout --------------------------------------------------------===//

#ifndef MTC_IR_BUILDERS_DROPOUT_H
#define MTC_IR_BUILDERS_DROPOUT_H

#include "ir/builders/Settings.h"

namespace mtc {

/// Returns a mask of the kept elements, from 32 random bits for each as signed integers. The mask
/// is a function of seed, step and stream, so it need not be saved for the backward pass.
mlir::Value buildKeepMask(TensorBuilder &b, mlir::Value bits, const Number &ratio);

/// Returns x / (1 - ratio) where the mask is set, and 0 elsewhere.
mlir::Value buildDropout(TensorBuilder &b, mlir::Value x, mlir::Value mask, const Number &ratio);

} // namespace mtc

#endif // MTC_IR_BUILDERS_DROPOUT_H
