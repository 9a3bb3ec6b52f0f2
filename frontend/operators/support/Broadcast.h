//===- Broadcast.h - Operators of several operands that broadcast -----------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_BROADCAST_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_BROADCAST_H

#include "frontend/operators/support/Conversion.h"
#include "frontend/operators/support/Evaluate.h"

namespace mtc::onnx {

/// The shape that all operands broadcast to; failure, reported, where they do not match.
mlir::FailureOr<Extents> broadcastOperands(Inference &node);

/// All operands have one element type; reported where they do not.
bool sameElementTypes(Inference &node);

/// All operands broadcast and have one element type, that of the result.
mlir::LogicalResult inferArithmetic(Inference &node);

/// Folds all operands, from the left, with one function of two numbers.
template <typename Function> void foldOperands(Inference &node, Function function) {
  mlir::Type element = node.elementType(0);
  dispatchNumber(element, [&](auto kind) {
    using T = decltype(kind);
    std::optional<Tensor> result = node.tensor(0);
    for (size_t i = 1; i < node.operandCount() && result; ++i) {
      Tensor next = node.tensor(i);
      auto type =
          mlir::RankedTensorType::get(*broadcastShapes(result->shape(), next.shape()), element);
      result = zip<T, T>(*result, next, type, function);
    }
    node.fold(0, result);
  });
}

/// All operands, repeated to the result's shape, combined from the left.
mlir::Value combineOperands(
    Conversion &node,
    llvm::function_ref<mlir::Value(TensorBuilder &b, mlir::Value x, mlir::Value y)> combine);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_BROADCAST_H
