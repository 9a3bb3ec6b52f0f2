//===- PatternApplier.h - Application of --train and --freeze ---------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_PATTERNAPPLIER_H
#define MTC_FRONTEND_ONNX_PARAMETERS_PATTERNAPPLIER_H

#include "frontend/onnx/parameters/Parameters.h"

namespace mtc::onnx {

/// Changes the classes of initializers that the user's patterns match; the most specific pattern
/// decides. Errors and Constant nodes are handled as by `chooseParameters`.
void applyPatterns(GraphOp graph, const ParameterPatterns &patterns,
                   llvm::StringMap<InitializerClass> &classes, Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_PATTERNAPPLIER_H
