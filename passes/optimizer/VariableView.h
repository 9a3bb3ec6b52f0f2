//===- VariableView.h - Variables as tensors --------------------------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_VARIABLEVIEW_H
#define MTC_PASSES_OPTIMIZER_VARIABLEVIEW_H

#include "ir/builders/TensorBuilder.h"

namespace mtc {

/// Reads and writes variables as one tensor: a single variable in its own shape or flattened, or
/// several variables as one flat tensor.
class VariableView {
public:
  VariableView(VariableOp variable) : type(variable.getTensorType()), name(variable.getSymName()) {}
  VariableView(llvm::ArrayRef<VariableOp> variables);
  /// Returns a view of a single variable, flattened.
  static VariableView lineOf(VariableOp variable) {
    VariableView view(variable);
    view.isLine = true;
    return view;
  }
  mlir::Value read(TensorBuilder &builder) const;
  /// Reads 16-bit floats as f32, and other elements as they are.
  mlir::Value readWide(TensorBuilder &builder) const;
  /// Rounds the value if its elements have more bits than those of the variables.
  void write(TensorBuilder &builder, mlir::Value value) const;
  mlir::Type getElementType() const { return type.getElementType(); }

private:
  mlir::RankedTensorType type;
  llvm::StringRef name;
  mlir::ArrayAttr symbols; ///< Null for a single variable.
  bool isLine = false;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_VARIABLEVIEW_H
