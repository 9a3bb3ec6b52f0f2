//===- Import.h - From an ONNX file to the onnx dialect
//-----------------------------------------===//

#ifndef MTC_FRONTEND_READER_IMPORT_H
#define MTC_FRONTEND_READER_IMPORT_H

#include "frontend/reader/Model.h"
#include "frontend/reader/Parameters.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mtc::onnx {

struct ImportOptions {
  llvm::StringMap<int64_t> dims; // Sizes of symbolic dimensions.
  /// Graph inputs that become constants: a number, a list such as 1,2,3, or a .npy file.
  std::vector<std::pair<std::string, std::string>> binds;
};

/// A graph input as the file gives it.
struct ModelInput {
  std::string name;
  std::vector<std::string> dims; // Numbers, names or expressions; empty: unknown.
};
/// Inputs that are no initializers, and the names of the symbolic dimensions that they have.
std::vector<ModelInput> modelInputs(const Model &model);

/// One `onnx.graph @main`: functions inlined, dimensions bound, initializers classified; small
/// constants and all integer initializers whose data is at hand are `onnx.constant`s. Null, with
/// `problems`, where the graph is not sound; all problems are found before.
mlir::OwningOpRef<mlir::ModuleOp> importModel(Model &model, mlir::MLIRContext &context,
                                              const ImportOptions &options,
                                              const llvm::StringMap<InitializerClass> &classes,
                                              Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_IMPORT_H
