//===- VariableView.h - Variables as tensors --------------------------------------------------===//

#ifndef MTC_PASSES_VARIABLES_VARIABLEVIEW_H
#define MTC_PASSES_VARIABLES_VARIABLEVIEW_H

#include "ir/builders/TensorBuilder.h"

#include <memory>

namespace mtc {

/// Reads and writes variables as one tensor: a single variable in its own shape or flattened, a
/// piece of it, or several variables as one flat tensor.
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
  /// Returns a view of the piece of this rank of a variable that all ranks of a group hold. Writes
  /// gather the pieces of the group.
  static VariableView pieceOf(VariableOp variable, mlir::RankedTensorType piece, RankGroup group);
  /// Returns a view of the elements of a flat variable from `offset` on, which cannot be written.
  static VariableView partOf(VariableOp variable, int64_t offset, mlir::RankedTensorType part);
  /// Returns a view of elements of a flat value, which takes the place of a variable.
  static VariableView partOf(mlir::Value value, int64_t offset, mlir::RankedTensorType part);

  /// Returns a view of the sum of two variables. A write of the sum resets the second one.
  VariableView plus(VariableView other) const;

  mlir::Value read(TensorBuilder &builder) const;
  /// Reads 16-bit floats as f32, and other elements as they are.
  mlir::Value readWide(TensorBuilder &builder) const;
  /// Rounds the value if its elements have more bits than those of the variables.
  void write(TensorBuilder &builder, mlir::Value value) const;
  /// Returns whether the view is not part of a flat variable.
  bool isWritable() const { return (!seen || group) && (!addend || addend->isWritable()); }
  /// Returns the type of the view's value.
  mlir::RankedTensorType getType() const { return seen ? seen : type; }
  mlir::Type getElementType() const { return type.getElementType(); }

private:
  mlir::Value readAlone(TensorBuilder &builder) const;
  explicit VariableView(mlir::Value value) : type(typeOf(value)), value(value) {}

  mlir::RankedTensorType type;    ///< of the variable, or the flat tensor
  mlir::RankedTensorType seen;    ///< of a piece or part; null: all elements
  std::optional<RankGroup> group; ///< of a piece
  int64_t offset = 0;             ///< of a part
  llvm::StringRef name;
  mlir::Value value;       ///< in the place of a variable
  mlir::ArrayAttr symbols; ///< Null for a single variable.
  bool isLine = false;
  std::shared_ptr<const VariableView> addend; ///< null: there is none
};

} // namespace mtc

#endif // MTC_PASSES_VARIABLES_VARIABLEVIEW_H
