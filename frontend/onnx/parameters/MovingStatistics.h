//===- MovingStatistics.h - Decomposed batch normalizations -----------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_MOVINGSTATISTICS_H
#define MTC_FRONTEND_ONNX_PARAMETERS_MOVINGSTATISTICS_H

#include "frontend/onnx/dialect/Onnx.h"

#include "llvm/ADT/StringSet.h"

namespace mtc::onnx {

/// The `reason` of initializers that are classified as moving statistics.
inline constexpr llvm::StringLiteral movingStatisticReason =
    "moving statistics of a decomposed batch normalization";

/// Returns the initializers that are moving means or variances of batch normalizations decomposed
/// by Keras or another exporter:
///
///   y = (x - mean) * (gamma / sqrt(variance + epsilon)) + beta, or
///   y = x * s + (beta - mean * s) with s = gamma / sqrt(variance + epsilon), or
///   y = (x - mean) * c + beta with c folded from gamma and the variance (Keras on PyTorch).
///
/// They are recognized by name or by one of these patterns. In files that hold Keras variables
/// without their names, any variable that is subtracted or used as a divisor is a mean or a
/// deviation, including those of `Normalization` layers.
llvm::StringSet<> findMovingStatistics(GraphOp graph);

/// Returns whether the name marks a moving statistic: a part of it, between slashes, dots and
/// colons, is `moving_mean`, `moving_variance`, `moving_var`, `running_mean`, `running_variance` or
/// `running_var`, with or without a number.
bool isNamedAsMovingStatistic(llvm::StringRef name);

/// Returns whether the name marks an initializer computed from the parameters and statistics of a
/// batch normalization: `…/batchnorm/mul`, `…/batchnorm/sub`.
bool isNamedAsFoldedNormalization(llvm::StringRef name);

/// Returns the scales into which the exporter folded the variance in files without names: `c` in
/// `(x - mean) * c + beta`.
std::vector<std::string> findFoldedScales(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_MOVINGSTATISTICS_H
