//===- BatchNormalization.h - The form of a BatchNormalization node ---------------------------===//

#ifndef MTC_FRONTEND_DIALECT_BATCHNORMALIZATION_H
#define MTC_FRONTEND_DIALECT_BATCHNORMALIZATION_H

#include "frontend/dialect/Node.h"

namespace mtc::onnx {

/// Returns whether a BatchNormalization node is in training form, in which it normalizes by batch
/// statistics: `training_mode` is 1 or, before version 14, the node has more than one result.
bool isBatchNormInTrainingForm(NodeView &node);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_DIALECT_BATCHNORMALIZATION_H
