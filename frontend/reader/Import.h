//===- Import.h - From an ONNX file to the onnx dialect ---------------------------------------===//

#ifndef MTC_FRONTEND_READER_IMPORT_H
#define MTC_FRONTEND_READER_IMPORT_H

#include "frontend/reader/Model.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mtc::onnx {

struct ImportOptions {
  llvm::StringMap<int64_t> dims; // Sizes of symbolic dimensions.
  /// Graph inputs that become constants: a number, a list such as 1,2,3, or a .npy file.
  std::vector<std::pair<std::string, std::string>> binds;
  /// The value that the loss is computed from; empty where it is left open (OutputSelection.h).
  std::string output = {};
  /// Whether outputs that cannot be imported are left out, all of them.
  bool allOutputsOptional = false;
  /// Whether dimensions may stay without a size; extents in types are unknown then.
  bool allowUnboundDimensions = false;
};

/// A graph input as the file gives it.
struct ModelInput {
  std::string name;
  std::vector<std::string> dims; // Numbers, names or expressions; INPUT.AXIS where there is none.
};
/// The graph's inputs that are no initializers.
std::vector<ModelInput> modelInputs(const Model &model);

/// Makes a module with one `onnx.graph @main` of the model:
/// - model-local functions are inlined, names of their nodes prefixed with the call's;
/// - Constant nodes, and initializers of integers whose data is at hand, are `onnx.constant`, other
///   initializers `onnx.initializer`; what the file says of them is in attributes (Onnx.h), by
///   which passes choose the parameters;
/// - a value's type is what the file declares, `tensor<*xindex>` where it declares nothing;
/// - results are the file's outputs and the value that `output` names; those that are not required
///   have the attribute `onnx.optional`, and are left out with a remark where they are broken.
/// With problems, all of which are in `problems`, the module is what could be made of the rest: a
/// graph that is broken as such has initializers alone.
mlir::OwningOpRef<mlir::ModuleOp> importModel(Model &model, mlir::MLIRContext &context,
                                              const ImportOptions &options, Problems &problems);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_IMPORT_H
