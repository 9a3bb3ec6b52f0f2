//===- Weights.h - Initial weights beside the program -----------------------------------------===//

#ifndef MTC_TOOLS_MTC_WEIGHTS_H
#define MTC_TOOLS_MTC_WEIGHTS_H

#include "frontend/reader/Model.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LogicalResult.h"

namespace mtc::tool {

/// Whether any variable's initial value lies in the model.
bool needsWeights(mlir::ModuleOp module);

/// Writes the initial values of the variables that lie in the model as safetensors. All
/// initializers whose data is missing are reported; the file appears only when it is complete.
mlir::LogicalResult writeWeights(mlir::ModuleOp module, onnx::Model &model, llvm::StringRef path);

} // namespace mtc::tool

#endif // MTC_TOOLS_MTC_WEIGHTS_H
