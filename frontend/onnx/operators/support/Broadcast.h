//===- Broadcast.h - Variadic operators with broadcasting -------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_BROADCAST_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_BROADCAST_H

#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"

namespace mtc::onnx {

/// Returns the shape that all operands broadcast to. Fails with a diagnostic if the shapes are not
/// compatible.
mlir::FailureOr<Extents> broadcastOperands(Inference &node);

/// Returns whether all operands have the same element type; emits a diagnostic if they do not.
bool sameElementTypes(Inference &node);

/// Infers result 0 as the broadcast of all operands, which must have the same element type.
mlir::LogicalResult inferArithmetic(Inference &node);

/// Folds all operands from left to right with a binary function.
template <typename Function> void foldOperands(Inference &node, Function function) {
  mlir::Type element = node.elementType(0);
  dispatchNumber(element, [&](auto kind) {
    using T = decltype(kind);
    std::optional<Tensor> result = node.storedTensor(0);
    for (size_t i = 1; i < node.operandCount() && result; ++i) {
      const Tensor next = node.storedTensor(i);
      auto type =
          mlir::RankedTensorType::get(*broadcastShapes(result->shape(), next.shape()), element);
      result = zip<T, T>(*result, next, type, function);
    }
    node.fold(0, result);
  });
}

/// Broadcasts all operands to the result's shape and combines them from left to right.
mlir::Value combineOperands(
    Conversion &node,
    llvm::function_ref<mlir::Value(TensorBuilder &b, mlir::Value x, mlir::Value y)> combine);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_BROADCAST_H
