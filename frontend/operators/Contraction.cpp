//===- Contraction.cpp - Matrix products ------------------------------------------------------===//

#include "frontend/operators/Conversion.h"
#include "frontend/operators/Evaluate.h"
#include "frontend/operators/Operators.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

//===--- Gemm ---------------------------------------------------------------------------------===//

/// alpha A' B' + beta C, with A' and B' transposed on demand.
struct GemmAttributes {
  double alpha, beta;
  bool transposesA, transposesB;

  static GemmAttributes read(NodeView &node) {
    return {node.floating("alpha", 1.0), node.floating("beta", 1.0), node.flag("transA", false),
            node.flag("transB", false)};
  }
};

/// Matrices only; C broadcasts to [M, N].
LogicalResult inferGemm(Inference &node) {
  GemmAttributes gemm = GemmAttributes::read(node);
  bool transposeA = gemm.transposesA, transposeB = gemm.transposesB;
  if (node.failed() || !node.hasRank(0, 2, 2) || !node.hasRank(1, 2, 2) ||
      !node.sameElementType(0, 1))
    return failure();
  int64_t rows = node.dim(0, transposeA), columns = node.dim(1, !transposeB);
  if (node.dim(0, !transposeA) != node.dim(1, transposeB))
    return node.failure("cannot multiply shapes " + shapeText(node.shape(0)) +
                        (transposeA ? " (transposed)" : "") + " and " + shapeText(node.shape(1)) +
                        (transposeB ? " (transposed)" : ""));
  Extents shape{rows, columns};
  if (node.has(2)) {
    std::optional<Extents> both = broadcastShapes(shape, node.shape(2));
    if (!both || *both != shape)
      return node.failure(Twine(node.operandName(2)) + " has shape " + shapeText(node.shape(2)) +
                          ", which does not broadcast to " + shapeText(shape));
    if (!node.sameElementType(0, 2))
      return failure();
  }
  return node.result(0, node.elementType(0), shape);
}

/// The contraction names the axes, so nothing is moved.
LogicalResult convertGemm(Conversion &node) {
  auto [alpha, beta, transposesA, transposesB] = GemmAttributes::read(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value y = b.contract(node.value(0), node.value(1), {}, {}, {transposesA ? 0 : 1},
                       {transposesB ? 1 : 0});
  if (alpha != 1.0)
    y = b.mul(y, b.splat(y, alpha));
  if (node.has(2) && beta != 0.0) {
    Value c = node.broadcastValue(2, node.resultShape());
    y = b.add(y, beta == 1.0 ? c : b.mul(c, b.splat(c, beta)));
  }
  return node.result(0, y);
}

//===--- MatMul: types and evaluation ---------------------------------------------------------===//

/// Multiplications above which a product of constants is left to the program.
constexpr int64_t maxFoldedProducts = int64_t(1) << 28;

/// NumPy's matmul: [batch…, M, K] × [batch…, K, N], batches broadcast. A vector on the left is a
/// row, on the right a column, and its axis goes.
struct MatMulShapes {
  Extents left, right; ///< With both matrix axes.
  Extents batch;
  Extents result;
};

FailureOr<MatMulShapes> matMulShapes(Inference &node) {
  if (!node.hasRank(0, 1) || !node.hasRank(1, 1))
    return failure();
  MatMulShapes shapes{Extents(node.shape(0)), Extents(node.shape(1)), {}, {}};
  bool row = shapes.left.size() == 1, column = shapes.right.size() == 1;
  if (row)
    shapes.left.insert(shapes.left.begin(), 1);
  if (column)
    shapes.right.push_back(1);
  ArrayRef<int64_t> left = shapes.left, right = shapes.right;
  std::optional<Extents> batch = broadcastShapes(left.drop_back(2), right.drop_back(2));
  if (!batch || left.back() != right[right.size() - 2])
    return node.failure("cannot multiply shapes " + shapeText(node.shape(0)) + " and " +
                        shapeText(node.shape(1)));
  shapes.batch = *batch;
  shapes.result = *batch;
  if (!row)
    shapes.result.push_back(left[left.size() - 2]);
  if (!column)
    shapes.result.push_back(right.back());
  return shapes;
}

LogicalResult inferMatMul(Inference &node) {
  if (!node.sameElementType(0, 1))
    return failure();
  FailureOr<MatMulShapes> shapes = matMulShapes(node);
  if (failed(shapes))
    return failure();
  return node.result(0, node.elementType(0), shapes->result);
}

/// Products of 8-bit integers, summed in i32.
LogicalResult inferMatMulInteger(Inference &node) {
  FailureOr<MatMulShapes> shapes = matMulShapes(node);
  if (failed(shapes))
    return failure();
  return node.result(0, IntegerType::get(node.context(), 32), shapes->result);
}

template <typename T> void evaluateMatMulAs(Inference &node, const MatMulShapes &shapes) {
  int64_t rows = shapes.left[shapes.left.size() - 2], depth = shapes.left.back();
  int64_t columns = shapes.right.back();
  Extents batchOfLeft(ArrayRef<int64_t>(shapes.left).drop_back(2));
  Extents batchOfRight(ArrayRef<int64_t>(shapes.right).drop_back(2));
  std::vector<T> left = node.tensor(0).values<T>(), right = node.tensor(1).values<T>();
  std::vector<T> result(node.resultType().getNumElements(), 0);
  std::array<Extents, 2> strides{broadcastStrides(batchOfLeft, shapes.batch),
                                 broadcastStrides(batchOfRight, shapes.batch)};
  walkIndices(shapes.batch, strides, [&](int64_t batch, const std::array<int64_t, 2> &at) {
    const T *a = left.data() + at[0] * rows * depth, *b = right.data() + at[1] * depth * columns;
    T *c = result.data() + batch * rows * columns;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t j = 0; j < columns; ++j)
          c[i * columns + j] += a[i * depth + k] * b[k * columns + j];
  });
  node.fold(0, Tensor::fromValues<T>(node.resultType(), result));
}

void evaluateMatMul(Inference &node) {
  MatMulShapes shapes = *matMulShapes(node);
  int64_t products = node.resultType().getNumElements();
  if (products == 0 || products > maxFoldedElements ||
      llvm::MulOverflow(products, shapes.left.back(), products) || products > maxFoldedProducts)
    return;
  if (isa<FloatType>(node.elementType(0)))
    dispatchFloat(node.elementType(0),
                  [&](auto kind) { evaluateMatMulAs<decltype(kind)>(node, shapes); });
  else
    evaluateMatMulAs<uint64_t>(node, shapes); // The low bits are the same for both signs.
}

//===--- MatMul: conversion -------------------------------------------------------------------===//

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

void registerContractionOperators(Operators &operators) {
  operators.add("Gemm", 7, {.infer = inferGemm, .convert = convertGemm});
  operators.add("MatMul", 1,
                {.infer = inferMatMul, .evaluate = evaluateMatMul, .convert = convertMatMul});
  operators.add("MatMulInteger", 10, {.infer = inferMatMulInteger});
}

} // namespace mtc::onnx
