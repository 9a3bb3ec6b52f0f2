//===- MatMul.h - Matrix multiplication with batch broadcasting -------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_MATMUL_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_MATMUL_H

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/dialect/Shapes.h"
#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// Shapes of NumPy's matmul: [batch…, M, K] × [batch…, K, N], with broadcast batch axes. A vector
/// on the left is a row and a vector on the right a column; the result omits the added axis.
struct MatMulShapes {
  Extents left, right; ///< Operand shapes with both matrix axes.
  Extents batch;
  Extents result;
};

/// Returns the shapes for operands `lhs` and `rhs` of a node. Fails with a diagnostic if they are
/// not compatible.
mlir::FailureOr<MatMulShapes> matMulShapes(NodeView &node, size_t lhs, size_t rhs);
/// Returns the shapes for operands of these shapes of at least one axis.
mlir::FailureOr<MatMulShapes> matMulShapes(NodeView &node, llvm::ArrayRef<int64_t> lhs,
                                           llvm::ArrayRef<int64_t> rhs);

/// Returns the matrix product, of shape `MatMulShapes::result`.
mlir::Value matMul(TensorBuilder &b, mlir::Value lhs, mlir::Value rhs,
                   llvm::ArrayRef<int64_t> shape);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_MATMUL_H
