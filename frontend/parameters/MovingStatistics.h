//===- MovingStatistics.h - Decomposed batch normalizations -----------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_MOVINGSTATISTICS_H
#define MTC_FRONTEND_PARAMETERS_MOVINGSTATISTICS_H

#include "frontend/dialect/Onnx.h"

#include "llvm/ADT/StringSet.h"

namespace mtc::onnx {

/// The initializers that are the moving mean or variance of a batch normalization which Keras or
/// another exporter decomposed:
///
///   y = (x - mean) * (gamma / sqrt(variance + epsilon)) + beta, or
///   y = x * s + (beta - mean * s) with s = gamma / sqrt(variance + epsilon), or
///   y = (x - mean) * c + beta with c folded from gamma and the variance, of Keras on PyTorch.
///
/// They are told by their names, or by being used like this. In files that hold variables of Keras
/// without their names, what is subtracted or divides is a mean or a deviation, of `Normalization`
/// too.
inline constexpr llvm::StringLiteral movingStatisticReason =
    "moving statistics of a decomposed batch normalization";
llvm::StringSet<> findMovingStatistics(GraphOp graph);

/// Whether the name says it: a part of it, between slashes, dots and colons, is `moving_mean`,
/// `moving_variance`, `running_mean` or `running_var`, numbered or not.
bool isNamedAsMovingStatistic(llvm::StringRef name);

/// Whether the name says that the initializer was computed of a batch normalization's parameters
/// and statistics: `…/batchnorm/mul`, `…/batchnorm/sub`.
bool isNamedAsFoldedNormalization(llvm::StringRef name);

/// Scales of such normalizations that the exporter folded the variance into, where nothing is
/// named: `c` of `(x - mean) * c + beta`.
std::vector<std::string> findFoldedScales(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_MOVINGSTATISTICS_H
