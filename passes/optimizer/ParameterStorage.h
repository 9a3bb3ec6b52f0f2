//===- ParameterStorage.h - How parameters are stored -----------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_PARAMETERSTORAGE_H
#define MTC_PASSES_OPTIMIZER_PARAMETERSTORAGE_H

#include "passes/optimizer/VariableView.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mtc {

/// The variables that hold a parameter, as mtc-keep-working-copies leaves them.
struct ParameterStorage {
  VariableOp parameter;
  /// Of elements of f32 whose upper halves are the parameter's; or null.
  VariableOp lowHalf;
  /// The parameter in another type; or null.
  VariableOp copy;

  /// The type of what is updated.
  mlir::Type getElementType();
  /// Whether elements of both parameters have the same types everywhere.
  bool isLike(ParameterStorage &other);
  /// Whether variables of any of its types have the same number of elements, their padding
  /// included.
  bool isPaddedAlike();
};

/// Of each parameter by its name.
llvm::StringMap<ParameterStorage> findParameterStorage(mlir::ModuleOp module);

/// Parameters as one tensor to update: one in its own shape or as a line, or several as a flat one.
class ParameterView {
public:
  ParameterView(ParameterStorage storage, bool isLine);
  ParameterView(llvm::ArrayRef<ParameterStorage> storages);
  mlir::Value read(TensorBuilder &builder) const;
  /// What of a new value each of the variables gets.
  llvm::SmallVector<std::pair<VariableView, mlir::Value>> divide(TensorBuilder &builder,
                                                                 mlir::Value value) const;

private:
  VariableView stored;
  std::optional<VariableView> lowHalf, copy;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_PARAMETERSTORAGE_H
