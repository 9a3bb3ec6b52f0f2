//===- MatMul.h - Products of matrices whose leading axes broadcast ---------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_MATMUL_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_MATMUL_H

#include "frontend/dialect/Node.h"
#include "frontend/dialect/Shapes.h"
#include "ir/builders/TensorBuilder.h"

namespace mtc::onnx {

/// NumPy's matmul: [batch…, M, K] × [batch…, K, N], batches broadcast. A vector on the left is a
/// row, on the right a column, and its axis goes.
struct MatMulShapes {
  Extents left, right; ///< With both matrix axes.
  Extents batch;
  Extents result;
};

/// Those of operands `lhs` and `rhs` of a node. Failure, reported, where they do not fit.
mlir::FailureOr<MatMulShapes> matMulShapes(NodeView &node, size_t lhs, size_t rhs);

/// The product, of shape `MatMulShapes::result`.
mlir::Value matMul(TensorBuilder &b, mlir::Value lhs, mlir::Value rhs,
                   llvm::ArrayRef<int64_t> shape);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_MATMUL_H
