//===- StoppedGradients.h - Warnings about gradient stops that a file lacks -------------------===//
//
// PyTorch's own exporters write `detach()` as an Identity node or omit it, and do not write
// `no_grad()`. Training the file propagates gradients where the module does not. The metadata of
// the torch.export-based exporter shows many of these places: arguments of FX nodes are named
// `detach`, and stack traces contain lines with `no_grad`.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_STOPPEDGRADIENTS_H
#define MTC_FRONTEND_ONNX_PARAMETERS_STOPPEDGRADIENTS_H

#include "frontend/onnx/parameters/Parameters.h"

namespace mtc::onnx {

/// Returns a warning that names the values whose gradients the module stops and the file does not,
/// or an empty string. Values that depend on no trained parameter are not reported. Neither is the
/// maximum that a softmax subtracts, whose gradient is zero. Parameters must have been chosen.
std::string stoppedGradientsWarning(GraphOp graph,
                                    const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_STOPPEDGRADIENTS_H
