//===- BatchNormalization.h - The form of a BatchNormalization node ---------------------------===//

#ifndef MTC_FRONTEND_DIALECT_BATCHNORMALIZATION_H
#define MTC_FRONTEND_DIALECT_BATCHNORMALIZATION_H

#include "frontend/dialect/Node.h"

namespace mtc::onnx {

/// Whether the file holds a BatchNormalization node in training form, in which it normalizes by the
/// batch's statistics: `training_mode` is 1, or before version 14 the node has further results.
bool isBatchNormInTrainingForm(NodeView &node);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_DIALECT_BATCHNORMALIZATION_H
