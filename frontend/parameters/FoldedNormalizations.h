//===- FoldedNormalizations.h - Warnings about folded normalizations --------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_FOLDEDNORMALIZATIONS_H
#define MTC_FRONTEND_PARAMETERS_FOLDEDNORMALIZATIONS_H

#include "frontend/parameters/Parameters.h"

namespace mtc::onnx {

/// Returns warnings about trained parameters that the exporter computed from the scale, shift and
/// statistics of a normalization. They are recognized by name (`…/batchnorm/mul`) or by use
/// (`findFoldedScales`).
std::vector<std::string> normalizationWarnings(GraphOp graph,
                                               const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_FOLDEDNORMALIZATIONS_H
