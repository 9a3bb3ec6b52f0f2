//===- FoldedNormalizations.h - What is left of normalizations that were folded ---------------===//

#ifndef MTC_FRONTEND_PARAMETERS_FOLDEDNORMALIZATIONS_H
#define MTC_FRONTEND_PARAMETERS_FOLDEDNORMALIZATIONS_H

#include "frontend/parameters/Parameters.h"

namespace mtc::onnx {

/// Warnings about parameters that the exporter computed from a normalization's scale, shift and
/// statistics, by their names (`…/batchnorm/mul`).
std::vector<std::string> normalizationWarnings(GraphOp graph,
                                               const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_FOLDEDNORMALIZATIONS_H
