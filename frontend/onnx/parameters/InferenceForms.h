//===- InferenceForms.h - Warnings about nodes in inference form ------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_INFERENCEFORMS_H
#define MTC_FRONTEND_ONNX_PARAMETERS_INFERENCEFORMS_H

#include "frontend/onnx/parameters/Parameters.h"
#include "ir/Mtc.h"

namespace mtc::onnx {

/// Returns a warning with suggestions if the file has BatchNormalization nodes in inference form
/// whose scale and bias are not frozen; otherwise an empty string. Parameters must have been
/// chosen.
std::string batchNormWarning(GraphOp graph, const llvm::StringMap<InitializerClass> &classes);

/// Returns a warning if `--batch-norm` selects a mode and the graph has no BatchNormalization
/// nodes; otherwise an empty string.
std::string unusedModeWarning(GraphOp graph, BatchNormMode mode);

/// Returns a warning if PyTorch exported Dropout to an opset below 12, in which Dropout has only an
/// inference form; otherwise an empty string.
std::string dropoutWarning(GraphOp graph);

/// Returns a note on each framework (batchNormFramework) whose running variance nodes in training
/// form have.
std::vector<std::string> runningVarianceNotes(GraphOp graph);

/// Returns a warning that names the nodes that draw random numbers in inference, and the dropouts
/// that exported files keep; otherwise an empty string. The inference forms of decomposed dropouts
/// must have been formed.
std::string randomWarning(GraphOp graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_INFERENCEFORMS_H
