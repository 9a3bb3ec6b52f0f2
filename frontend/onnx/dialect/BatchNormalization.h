//===- BatchNormalization.h - The form of a BatchNormalization node ---------------------------===//

#ifndef MTC_FRONTEND_ONNX_DIALECT_BATCHNORMALIZATION_H
#define MTC_FRONTEND_ONNX_DIALECT_BATCHNORMALIZATION_H

#include "frontend/onnx/dialect/Node.h"

namespace mtc::onnx {

/// Returns whether a BatchNormalization node is in training form, in which it normalizes by batch
/// statistics: `training_mode` is 1 or, before version 14, the node has more than one result.
bool isBatchNormInTrainingForm(NodeView &node);

/// The framework whose running variance a BatchNormalization node has. Keras and ONNX divide the
/// squared differences by the number N of values, PyTorch divides by N - 1. All of them normalize a
/// batch by the variance divided by N.
enum class BatchNormFramework : uint8_t { Onnx, PyTorch, Keras };

/// Returns the framework of a BatchNormalization node (`frameworkAttribute`).
BatchNormFramework batchNormFramework(NodeOp node);

/// Returns the initializer with the running mean (`operand` 3) or variance (4) of a
/// BatchNormalization node. If the module normalizes twice with the same statistics, the operand is
/// the result of the first node. Returns null if no initializer holds the statistic.
InitializerOp runningStatistic(NodeOp node, size_t operand);

/// Returns the operand with the running statistic for result `i` >= 1 of a BatchNormalization node.
/// The results are mean and variance and, before version 14, once more mean and variance.
inline size_t runningOperand(size_t result) { return result % 2 == 1 ? 3 : 4; }

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_DIALECT_BATCHNORMALIZATION_H
