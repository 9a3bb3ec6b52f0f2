//===- Contraction.cpp - Matrix products ------------------------------------------------------===//

#include "frontend/convert/Converters.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// alpha A' B' + beta C, with A' and B' transposed on demand. The contraction names the axes, so
/// nothing is moved.
LogicalResult convertGemm(Conversion &node) {
  double alpha = node.floating("alpha", 1.0), beta = node.floating("beta", 1.0);
  bool transA = node.flag("transA", false), transB = node.flag("transB", false);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value y = b.contract(node.value(0), node.value(1), {}, {}, {transA ? 0 : 1}, {transB ? 1 : 0});
  if (alpha != 1.0)
    y = b.mul(y, b.splat(y, alpha));
  if (node.has(2) && beta != 0.0) {
    Value c = node.broadcastValue(2, node.resultShape());
    y = b.add(y, beta == 1.0 ? c : b.mul(c, b.splat(c, beta)));
  }
  return node.result(0, y);
}

/// [.., M, K] x [K, N] as one product of matrices: the leading axes join M.
Value contractMatrix(TensorBuilder &b, Value lhs, Value rhs) {
  SmallVector<int64_t> shape(shapeOf(lhs));
  int64_t depth = shape.pop_back_val(), rows = ShapedType::getNumElements(shape);
  Value y = b.contract(b.reshape(lhs, {rows, depth}), rhs, {}, {}, {1}, {0});
  shape.push_back(shapeOf(rhs).back());
  return b.reshape(y, shape);
}

/// How the batch axes of a product of [.., M, K] and [.., K, N] meet. Axes of equal extent are
/// batch axes of the contraction; an axis that one side lacks or has with extent 1 is a free axis
/// of the other side, so nothing is repeated in memory. The result then has its axes in the order
/// (batch, lhs free, M, rhs free, N).
class BatchedProduct {
public:
  BatchedProduct(TensorBuilder &b, Value lhs, Value rhs, ArrayRef<int64_t> resultBatch)
      : b(b), lhs(lhs), rhs(rhs), resultBatch(resultBatch) {}

  Value build() {
    int64_t rank = resultBatch.size();
    for (int64_t i = 0; i < rank; ++i) {
      int64_t l = extent(lhs, i), r = extent(rhs, i);
      if (l != 1 && r != 1)
        shared.push_back(i);
      else if (l != 1)
        onlyLhs.push_back(i);
      else if (r != 1)
        onlyRhs.push_back(i);
    }
    Value y = b.contract(squeezed(lhs, shared, onlyLhs), squeezed(rhs, shared, onlyRhs),
                         batchAxes(onlyLhs), batchAxes(onlyRhs),
                         {static_cast<int64_t>(shared.size() + onlyLhs.size()) + 1},
                         {static_cast<int64_t>(shared.size() + onlyRhs.size())});
    return b.transpose(y, order());
  }

private:
  /// The extent of an operand along an axis of the result's batch.
  int64_t extent(Value operand, int64_t axis) const {
    int64_t own = axis - static_cast<int64_t>(resultBatch.size()) + typeOf(operand).getRank() - 2;
    return own < 0 ? 1 : shapeOf(operand)[own];
  }

  /// The operand without batch axes of extent 1.
  Value squeezed(Value operand, ArrayRef<int64_t> both, ArrayRef<int64_t> own) const {
    SmallVector<int64_t> axes(both), shape;
    llvm::append_range(axes, own);
    llvm::sort(axes);
    for (int64_t axis : axes)
      shape.push_back(extent(operand, axis));
    llvm::append_range(shape, shapeOf(operand).take_back(2));
    return b.reshape(operand, shape);
  }

  /// Where the shared axes are among an operand's batch axes.
  SmallVector<int64_t> batchAxes(ArrayRef<int64_t> own) const {
    SmallVector<int64_t> places;
    for (auto [i, axis] : llvm::enumerate(shared))
      places.push_back(i + llvm::count_if(own, [axis = axis](int64_t o) { return o < axis; }));
    return places;
  }

  /// From the contraction's order of axes to that of the result without its batch axes of extent 1.
  SmallVector<int64_t> order() const {
    int64_t m = shared.size() + onlyLhs.size(), n = m + 1 + onlyRhs.size();
    SmallVector<std::pair<int64_t, int64_t>> batch; // Axis of the result, axis of the contraction.
    for (auto [i, axis] : llvm::enumerate(shared))
      batch.emplace_back(axis, i);
    for (auto [i, axis] : llvm::enumerate(onlyLhs))
      batch.emplace_back(axis, shared.size() + i);
    for (auto [i, axis] : llvm::enumerate(onlyRhs))
      batch.emplace_back(axis, m + 1 + i);
    llvm::sort(batch);
    SmallVector<int64_t> permutation(llvm::make_second_range(batch));
    permutation.append({m, n});
    return permutation;
  }

  TensorBuilder &b;
  Value lhs, rhs;
  ArrayRef<int64_t> resultBatch;
  SmallVector<int64_t> shared, onlyLhs, onlyRhs;
};

/// numpy.matmul: a vector on the left is a row, on the right a column, and its axis vanishes from
/// the result.
LogicalResult convertMatMul(Conversion &node) {
  TensorBuilder &b = node.b;
  Value lhs = node.value(0), rhs = node.value(1);
  ArrayRef<int64_t> shape = node.resultShape();
  if (node.shape(0).back() == 0)
    return node.result(0, b.splat(node.resultType(), 0.0));
  bool lhsVector = node.rank(0) == 1, rhsVector = node.rank(1) == 1;
  if (lhsVector)
    lhs = b.reshape(lhs, {1, node.dim(0, 0)});
  if (rhsVector)
    rhs = b.reshape(rhs, {node.dim(1, 0), 1});
  auto rhsBatch = ShapedType::getNumElements(shapeOf(rhs).drop_back(2));
  Value y;
  if (rhsBatch == 1)
    y = contractMatrix(b, lhs, b.reshape(rhs, shapeOf(rhs).take_back(2)));
  else
    y = BatchedProduct(b, lhs, rhs, shape.drop_back((lhsVector ? 0 : 1) + (rhsVector ? 0 : 1)))
            .build();
  return node.result(0, b.reshape(y, shape));
}

} // namespace

void registerContractionConverters(Converters &converters) {
  converters.add("Gemm", 7, convertGemm);
  converters.add("MatMul", 1, convertMatMul);
}

} // namespace mtc::onnx
