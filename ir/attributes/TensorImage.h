//===- TensorImage.h - Tensors in other files that contain elements of variables --------------===//

#ifndef MTC_IR_ATTRIBUTES_TENSORIMAGE_H
#define MTC_IR_ATTRIBUTES_TENSORIMAGE_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mtc {

/// Verifies that images are within a variable of this type, and that each group of the lists in
/// `complete` contains every element exactly once. Lists may be null.
mlir::LogicalResult verifyTensorImages(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                       mlir::RankedTensorType variable,
                                       mlir::ArrayRef<mlir::ArrayAttr> complete,
                                       mlir::ArrayAttr fileImages);

/// Returns whether the variable is part of the user's module. An empty list of images means that
/// its name in the module is unknown.
bool isInModule(VariableOp variable);

/// Returns the first group of module images, with which a file contains all elements of the
/// variable.
mlir::SmallVector<TensorImageAttr> firstImages(VariableOp variable);

/// Returns the names by which a user may refer to a variable: the name in the model file, and those
/// in the module.
mlir::SmallVector<llvm::StringRef> namesOf(VariableOp variable);

/// A tensor with its name in the user's module.
struct ModuleTensor {
  struct Piece {
    VariableOp variable;
    TensorImageAttr image; ///< null for the whole variable
  };

  std::string name;
  mlir::SmallVector<int64_t> shape;
  mlir::SmallVector<Piece> pieces;
};

/// Returns the tensors that together contain each element of the variables with `includes` exactly
/// once, in the order of the variables. A variable is exported under its own name if its image
/// would contain elements of variables that are not included. Fails with a diagnostic if two
/// tensors have the same name.
mlir::FailureOr<std::vector<ModuleTensor>>
collectModuleTensors(mlir::ModuleOp module, llvm::function_ref<bool(VariableOp)> includes);

} // namespace mtc

#endif // MTC_IR_ATTRIBUTES_TENSORIMAGE_H
