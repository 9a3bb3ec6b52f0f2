//===- MatMul.cpp - Matrix multiplication with batch broadcasting -----------------------------===//

#include "frontend/onnx/operators/support/MatMul.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Builds [.., M, K] x [K, N] as one matrix multiplication, with the leading axes collapsed into M.
Value contractMatrix(TensorBuilder &b, Value lhs, Value rhs) {
  SmallVector<int64_t> shape(shapeOf(lhs));
  int64_t depth = shape.pop_back_val(), rows = ShapedType::getNumElements(shape);
  Value y = b.contract(b.reshape(lhs, {rows, depth}), rhs, {}, {}, {1}, {0});
  shape.push_back(shapeOf(rhs).back());
  return b.reshape(y, shape);
}

/// Builds a batched matrix multiplication of [.., M, K] and [.., K, N]. Axes of equal extent are
/// batch axes of the contraction. An axis that is missing or has extent 1 on one side is a free
/// axis of the other side, so that nothing is materialized by broadcasting. The result of the
/// contraction has its axes in the order (batch, lhs free, M, rhs free, N).
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
  /// Returns the operand's extent along a batch axis of the result.
  int64_t extent(Value operand, int64_t axis) const {
    int64_t own = axis - static_cast<int64_t>(resultBatch.size()) + typeOf(operand).getRank() - 2;
    return own < 0 ? 1 : shapeOf(operand)[own];
  }

  /// Removes the operand's batch axes of extent 1.
  Value squeezed(Value operand, ArrayRef<int64_t> both, ArrayRef<int64_t> own) const {
    SmallVector<int64_t> axes(both), shape;
    llvm::append_range(axes, own);
    llvm::sort(axes);
    for (int64_t axis : axes)
      shape.push_back(extent(operand, axis));
    llvm::append_range(shape, shapeOf(operand).take_back(2));
    return b.reshape(operand, shape);
  }

  /// Returns the positions of the shared axes among an operand's batch axes.
  SmallVector<int64_t> batchAxes(ArrayRef<int64_t> own) const {
    SmallVector<int64_t> places;
    for (auto [i, axis] : llvm::enumerate(shared))
      places.push_back(i + llvm::count_if(own, [axis = axis](int64_t o) { return o < axis; }));
    return places;
  }

  /// Returns the permutation from the contraction's axis order to that of the result without batch
  /// axes of extent 1.
  SmallVector<int64_t> order() const {
    int64_t m = shared.size() + onlyLhs.size(), n = m + 1 + onlyRhs.size();
    SmallVector<std::pair<int64_t, int64_t>> batch; // (result axis, contraction axis)
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

} // namespace

FailureOr<MatMulShapes> matMulShapes(NodeView &node, size_t lhs, size_t rhs) {
  if (!node.hasRank(lhs, 1) || !node.hasRank(rhs, 1))
    return failure();
  return matMulShapes(node, node.shape(lhs), node.shape(rhs));
}

FailureOr<MatMulShapes> matMulShapes(NodeView &node, ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  MatMulShapes shapes{Extents(lhs), Extents(rhs), {}, {}};
  bool row = shapes.left.size() == 1, column = shapes.right.size() == 1;
  if (row)
    shapes.left.insert(shapes.left.begin(), 1);
  if (column)
    shapes.right.push_back(1);
  ArrayRef<int64_t> left = shapes.left, right = shapes.right;
  std::optional<Extents> batch = broadcastShapes(left.drop_back(2), right.drop_back(2));
  if (!batch || left.back() != right[right.size() - 2])
    return node.failure("cannot multiply shapes " + shapeText(lhs) + " and " + shapeText(rhs));
  shapes.batch = *batch;
  shapes.result = *batch;
  if (!row)
    shapes.result.push_back(left[left.size() - 2]);
  if (!column)
    shapes.result.push_back(right.back());
  return shapes;
}

Value matMul(TensorBuilder &b, Value lhs, Value rhs, ArrayRef<int64_t> shape) {
  int64_t depth = shapeOf(lhs).back();
  if (depth == 0)
    return b.splat(RankedTensorType::get(shape, typeOf(lhs).getElementType()), 0.0);
  bool lhsVector = typeOf(lhs).getRank() == 1, rhsVector = typeOf(rhs).getRank() == 1;
  if (lhsVector)
    lhs = b.reshape(lhs, {1, depth});
  if (rhsVector)
    rhs = b.reshape(rhs, {depth, 1});
  auto rhsBatch = ShapedType::getNumElements(shapeOf(rhs).drop_back(2));
  Value y;
  if (rhsBatch == 1)
    y = contractMatrix(b, lhs, b.reshape(rhs, shapeOf(rhs).take_back(2)));
  else
    y = BatchedProduct(b, lhs, rhs, shape.drop_back((lhsVector ? 0 : 1) + (rhsVector ? 0 : 1)))
            .build();
  return b.reshape(y, shape);
}

} // namespace mtc::onnx
