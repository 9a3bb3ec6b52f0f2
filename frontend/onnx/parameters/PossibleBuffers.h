//===- PossibleBuffers.h - Parameters that may be buffers of the module -----------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_POSSIBLEBUFFERS_H
#define MTC_FRONTEND_ONNX_PARAMETERS_POSSIBLEBUFFERS_H

#include "frontend/onnx/parameters/Parameters.h"

namespace mtc::onnx {

/// Returns warnings about trained initializers that may be buffers in the module. PyTorch's
/// TorchScript-based exporter does not distinguish parameters and buffers. A parameter with one
/// element per feature is normally a bias, which its own layer adds. A tensor that an enclosing
/// module adds to the output of a linear layer is often a buffer, such as `final_logits_bias` of
/// transformers' BART, but the file does not specify it. Initializers chosen by `--train` or
/// `--freeze` cause no warning.
std::vector<std::string> possibleBufferWarnings(GraphOp graph,
                                                const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_POSSIBLEBUFFERS_H
