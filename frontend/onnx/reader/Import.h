//===- Import.h - Import of an ONNX model to the onnx dialect ---------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_IMPORT_H
#define MTC_FRONTEND_ONNX_READER_IMPORT_H

#include "frontend/Frontend.h"
#include "frontend/onnx/reader/Model.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mtc::onnx {

/// Imports the model as a module with one `onnx.graph @main`:
/// - model-local functions are inlined, with the call's name as prefix of their nodes' names;
/// - Constant nodes, and integer initializers whose data is available, become `onnx.constant`;
///   other initializers become `onnx.initializer`, with attributes (Onnx.h) for parameter
///   selection;
/// - a value has its declared type, or `tensor<*xindex>` if the file declares none;
/// - results are the file's outputs and the value named by `output` (OutputSelection.h). Results
/// that are not required
///   have the attribute `onnx.optional` and are omitted with a remark if they cannot be imported.
/// If problems are reported, the module contains the parts that could be imported; for an invalid
/// graph these are only the initializers.
mlir::OwningOpRef<mlir::ModuleOp> importModel(Model &model, mlir::MLIRContext &context,
                                              const ImportOptions &options, Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_IMPORT_H
