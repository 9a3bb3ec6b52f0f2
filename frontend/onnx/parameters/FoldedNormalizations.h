//===- FoldedNormalizations.h - Warnings about folded normalizations --------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_FOLDEDNORMALIZATIONS_H
#define MTC_FRONTEND_ONNX_PARAMETERS_FOLDEDNORMALIZATIONS_H

#include "frontend/onnx/parameters/Parameters.h"

namespace mtc::onnx {

/// Returns warnings about trained parameters that an exporter or optimizer computed from the scale,
/// shift and statistics of a batch normalization. They are recognized by name
/// (`…/batchnorm/mul`, `ConvBnFusion_W_…`) or by use (`findFoldedScales`). Those of PyTorch's
/// exporters are in ExportLosses.h.
std::vector<std::string> normalizationWarnings(GraphOp graph,
                                               const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_FOLDEDNORMALIZATIONS_H
