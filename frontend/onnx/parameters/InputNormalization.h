//===- InputNormalization.h - Means and deviations of the graph's inputs ----------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_INPUTNORMALIZATION_H
#define MTC_FRONTEND_ONNX_PARAMETERS_INPUTNORMALIZATION_H

#include "frontend/onnx/dialect/Onnx.h"

#include "llvm/ADT/StringMap.h"

namespace mtc::onnx {

/// Returns initializers that normalize an input of the graph, and how. With x an input, possibly
/// cast, transposed or scaled by a single number:
///
///   x - mean, x / deviation, (x - mean) / deviation, (x - mean) * scale
///
/// Means and deviations have one element per feature of the input. A sum after the last form makes
/// it the affine form of a batch normalization, whose scale and shift are trained.
llvm::StringMap<std::string> findInputNormalization(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_INPUTNORMALIZATION_H
