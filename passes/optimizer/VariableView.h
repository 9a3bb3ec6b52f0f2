//===- VariableView.h - Variables as tensors to compute with ----------------------------------===//

#ifndef MTC_PASSES_OPTIMIZER_VARIABLEVIEW_H
#define MTC_PASSES_OPTIMIZER_VARIABLEVIEW_H

#include "ir/builders/TensorBuilder.h"

namespace mtc {

/// Variables as one tensor to compute with, and back: one in its own shape or as a line, or several
/// as a flat one.
class VariableView {
public:
  VariableView(VariableOp variable) : type(variable.getTensorType()), name(variable.getSymName()) {}
  VariableView(llvm::ArrayRef<VariableOp> variables);
  /// One as a line of its elements.
  static VariableView lineOf(VariableOp variable) {
    VariableView view(variable);
    view.isLine = true;
    return view;
  }
  mlir::Value read(TensorBuilder &builder) const;
  void write(TensorBuilder &builder, mlir::Value value) const;
  mlir::Type getElementType() const { return type.getElementType(); }

private:
  mlir::RankedTensorType type;
  llvm::StringRef name;
  mlir::ArrayAttr symbols; ///< Null if there is one.
  bool isLine = false;
};

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_VARIABLEVIEW_H
