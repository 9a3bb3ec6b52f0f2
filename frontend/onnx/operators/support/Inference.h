//===- Inference.h - Node view for type inference and constant folding ------------------------===//
//
// The argument of `Operator::infer` and `Operator::evaluate`: reads the node (Node.h) and sets the
// types or the constant values of its results.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_INFERENCE_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_INFERENCE_H

#include "frontend/onnx/dialect/Node.h"

namespace mtc::onnx {

class Inference : public NodeView {
public:
  Inference(NodeOp op, ConstantLookup lookup);

  /// Sets the type of result `i`. Results that the model omits are ignored.
  mlir::LogicalResult result(size_t i, mlir::RankedTensorType type);
  mlir::LogicalResult result(size_t i, mlir::Type elementType, llvm::ArrayRef<int64_t> shape);

  /// Replaces all uses of result `i` by operand `operand`.
  mlir::LogicalResult forward(size_t i, size_t operand);

  /// Folds result `i` to a constant. Does nothing if there is no value (too large to fold).
  void fold(size_t i, std::optional<Tensor> value);

  /// Returns the constant operand `i`. Only rules that run when all operands are constant may call
  /// it.
  Tensor tensor(size_t i) const { return *constant(i); }
  /// Returns the same value, which may be repeated.
  Tensor storedTensor(size_t i) const { return *storedConstant(i); }

  /// Returns the type set for result `i`, or null.
  mlir::RankedTensorType resultType(size_t i = 0) const { return types[i]; }
  llvm::ArrayRef<int64_t> resultShape(size_t i = 0) const { return types[i].getShape(); }

  //===--- Used by the inference pass ---------------------------------------------------------===//

  const std::optional<Tensor> &folded(size_t i) const { return values[i]; }
  std::optional<size_t> forwarded(size_t i) const { return forwards[i]; }

private:
  llvm::SmallVector<mlir::RankedTensorType, 2> types;
  llvm::SmallVector<std::optional<Tensor>, 2> values;
  llvm::SmallVector<std::optional<size_t>, 2> forwards;
};

/// Infers that result 0 has the type of operand 0.
mlir::LogicalResult inferSame(Inference &node);
/// Infers that result 0 has the type of operand 0, a float tensor.
mlir::LogicalResult inferSameFloat(Inference &node);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_INFERENCE_H
