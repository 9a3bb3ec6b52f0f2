//===- FrozenModules.h - Modules that may be frozen -------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_FROZENMODULES_H
#define MTC_FRONTEND_ONNX_PARAMETERS_FROZENMODULES_H

#include "frontend/onnx/parameters/Parameters.h"

namespace mtc::onnx {

/// Returns a note that lists the outermost modules with trained parameters, if there are several
/// and PyTorch's exporter wrote the file, which does not record `requires_grad`; otherwise an empty
/// string. A graph that computes its own loss may contain a frozen module, such as a discriminator
/// or a feature extractor. Parameters must have been chosen.
std::string frozenModulesNote(GraphOp graph, const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_FROZENMODULES_H
