//===- ClassAxis.h - The class axis of outputs and labels -------------------------------------===//

#ifndef MTC_PASSES_LOSSES_CLASSAXIS_H
#define MTC_PASSES_LOSSES_CLASSAXIS_H

#include "passes/losses/Loss.h"

namespace mtc {

/// Sets the requirement that an output or its labels do not meet.
inline llvm::LogicalResult expect(std::string &expected, llvm::StringRef text) {
  expected = text.str();
  return mlir::failure();
}

/// Returns the class axis of an output whose labels do not determine it: the last axis, or axis 1
/// for images, whose layout in ONNX and PyTorch is [batch, classes, height, width].
int64_t defaultClassAxis(mlir::RankedTensorType output);

/// Returns the layout of labels that are values for all classes, in the output's shape.
mlir::FailureOr<LabelLayout> layoutOfProbabilities(const LabelQuery &query, std::string &expected);

/// Returns the extents without an axis.
llvm::SmallVector<int64_t> withoutAxis(llvm::ArrayRef<int64_t> shape, int64_t axis);

/// Transposes a value so that the class axis is last.
mlir::Value classesLast(TensorBuilder &b, mlir::Value value, int64_t classAxis);

/// Builds x - ln sum e^x along the last axis. The maximum is subtracted before the exponential; the
/// result does not depend on it, so no gradient is propagated through it.
mlir::Value logSoftmax(TensorBuilder &b, mlir::Value x);

} // namespace mtc

#endif // MTC_PASSES_LOSSES_CLASSAXIS_H
