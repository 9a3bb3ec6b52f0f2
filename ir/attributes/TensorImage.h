//===- TensorImage.h - Tensors of other files that hold the elements of variables -------------===//

#ifndef MTC_IR_ATTRIBUTES_TENSORIMAGE_H
#define MTC_IR_ATTRIBUTES_TENSORIMAGE_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mtc {

/// Images lie within a variable of this type, and `moduleImages`, which may be null, are groups in
/// their order of which each holds every element of it once.
mlir::LogicalResult verifyTensorImages(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                       mlir::RankedTensorType variable,
                                       mlir::ArrayAttr moduleImages, mlir::ArrayAttr fileImages);

/// The first group: the images that a file needs to have for all elements of the variable.
mlir::SmallVector<TensorImageAttr> firstImages(VariableOp variable);

/// The names by which a user may mean a variable: that of the model's file, and those of the
/// module.
mlir::SmallVector<llvm::StringRef> namesOf(VariableOp variable);

/// A tensor under the name that it has in the user's module.
struct ModuleTensor {
  struct Piece {
    VariableOp variable;
    TensorImageAttr image; ///< Null: the variable as it is.
  };

  std::string name;
  mlir::SmallVector<int64_t> shape;
  mlir::SmallVector<Piece> pieces;
};

/// The tensors that hold each element of the variables for which `includes` holds once, in the
/// order of the variables. A variable is itself, under its own name, where an image of it would
/// have elements of others than these. Fails, saying why, where two tensors would have one name.
mlir::FailureOr<std::vector<ModuleTensor>>
collectModuleTensors(mlir::ModuleOp module, llvm::function_ref<bool(VariableOp)> includes);

} // namespace mtc

#endif // MTC_IR_ATTRIBUTES_TENSORIMAGE_H
