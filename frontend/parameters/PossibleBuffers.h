//===- PossibleBuffers.h - Parameters that may be buffers of the module -----------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_POSSIBLEBUFFERS_H
#define MTC_FRONTEND_PARAMETERS_POSSIBLEBUFFERS_H

#include "frontend/parameters/Parameters.h"

namespace mtc::onnx {

/// Warnings about trained initializers that the module may have as buffers. PyTorch's TorchScript
/// exporter writes parameters and buffers alike. A parameter of one value for each feature is a
/// layer's bias, which the layer itself adds. What a module around a linear layer adds to its
/// output is often a buffer, such as `final_logits_bias` of transformers' BART; the file does not
/// tell. Choices of `--train` and `--freeze` are meant: they give no warning.
std::vector<std::string> possibleBufferWarnings(GraphOp graph,
                                                const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_POSSIBLEBUFFERS_H
