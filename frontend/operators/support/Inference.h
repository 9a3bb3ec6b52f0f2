//===- Inference.h - What is inferred of a node's results -------------------------------------===//
//
// The view that `infer` and `evaluate` of an operator's record get: reading as in Node.h, and
// saying of which types the results are, or their values.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_INFERENCE_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_INFERENCE_H

#include "frontend/dialect/Node.h"

namespace mtc::onnx {

class Inference : public NodeView {
public:
  Inference(NodeOp op, ConstantLookup lookup);

  /// Result `i` has this type; one that the model leaves out is ignored.
  mlir::LogicalResult result(size_t i, mlir::RankedTensorType type);
  mlir::LogicalResult result(size_t i, mlir::Type elementType, llvm::ArrayRef<int64_t> shape);

  /// Result `i` is `operand` itself: its uses become uses of the operand.
  mlir::LogicalResult forward(size_t i, size_t operand);

  /// Result `i` is this constant; nothing is done where there is none (too large to fold).
  void fold(size_t i, std::optional<Tensor> value);

  /// The constant operand `i`, where the rule is called because all operands are constant.
  Tensor tensor(size_t i) const { return *constant(i); }

  /// The type set for result `i`; null where it was not set.
  mlir::RankedTensorType resultType(size_t i = 0) const { return types[i]; }
  llvm::ArrayRef<int64_t> resultShape(size_t i = 0) const { return types[i].getShape(); }

  //===--- For the pass -----------------------------------------------------------------------===//

  const std::optional<Tensor> &folded(size_t i) const { return values[i]; }
  std::optional<size_t> forwarded(size_t i) const { return forwards[i]; }

private:
  llvm::SmallVector<mlir::RankedTensorType, 2> types;
  llvm::SmallVector<std::optional<Tensor>, 2> values;
  llvm::SmallVector<std::optional<size_t>, 2> forwards;
};

/// Result 0 has operand 0's type.
mlir::LogicalResult inferSame(Inference &node);
/// The same, of floats.
mlir::LogicalResult inferSameFloat(Inference &node);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_INFERENCE_H
