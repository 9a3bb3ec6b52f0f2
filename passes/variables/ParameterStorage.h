//===- ParameterStorage.h - Variables that store a parameter ----------------------------------===//

#ifndef MTC_PASSES_VARIABLES_PARAMETERSTORAGE_H
#define MTC_PASSES_VARIABLES_PARAMETERSTORAGE_H

#include "passes/variables/VariableView.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mtc {

/// The variables that store a parameter after mtc-keep-working-copies.
struct ParameterStorage {
  VariableOp parameter;
  /// Lower 16 bits of the f32 elements whose upper 16 bits are in `parameter`; may be null.
  VariableOp lowHalf;
  /// Copy of the parameter in another element type; may be null.
  VariableOp copy;
  /// Null before mtc-autodiff.
  VariableOp gradient;

  /// Returns the element type of the update.
  mlir::Type getElementType();
  /// Returns whether the variables of both parameters have the same element types.
  bool isLike(ParameterStorage &other);
  /// Returns whether the padded variables have the same number of elements for each of the
  /// parameter's element types.
  bool isPaddedAlike();
};

/// Returns the storage of each parameter by name.
llvm::StringMap<ParameterStorage> findParameterStorage(mlir::ModuleOp module);

/// Parameters as one tensor to update: a single parameter in its own shape or flattened, or several
/// parameters as one flat tensor.
class ParameterView {
public:
  /// `viewOf` returns the view of each variable.
  ParameterView(const ParameterStorage &storage,
                llvm::function_ref<VariableView(VariableOp)> viewOf);
  ParameterView(llvm::ArrayRef<ParameterStorage> storages);
  mlir::Value read(TensorBuilder &builder) const;
  /// Splits a new value into the values of the underlying variables.
  llvm::SmallVector<std::pair<VariableView, mlir::Value>> divide(TensorBuilder &builder,
                                                                 mlir::Value value) const;

private:
  VariableView stored;
  std::optional<VariableView> lowHalf, copy;
};

} // namespace mtc

#endif // MTC_PASSES_VARIABLES_PARAMETERSTORAGE_H
