//===- Contraction.cpp - MatMul, Gemm ---------------------------------------------------------===//

#include "frontend/inference/Einsum.h"
#include "frontend/inference/Evaluate.h"
#include "frontend/inference/Registry.h"
#include "frontend/inference/rules/Rules.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

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

/// alpha · A' B' + beta · C, matrices only; C broadcasts to [M, N].
LogicalResult inferGemm(Inference &node) {
  bool transposeA = node.flag("transA", false), transposeB = node.flag("transB", false);
  node.floating("alpha", 1);
  node.floating("beta", 1);
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

LogicalResult inferEinsum(Inference &node) {
  for (size_t i = 1; i < node.operandCount(); ++i)
    if (!node.sameElementType(0, i))
      return failure();
  FailureOr<EinsumEquation> equation = readEinsum(node);
  if (failed(equation))
    return failure();
  Extents shape;
  for (int64_t label : equation->result)
    shape.push_back(equation->extents[label]);
  return node.result(0, node.elementType(0), shape);
}

} // namespace

void registerContractionRules(Registry &registry) {
  registry.add("MatMul", 1, inferMatMul, evaluateMatMul);
  registry.add("MatMulInteger", 10, inferMatMulInteger);
  registry.add("Gemm", 7, inferGemm);
  registry.add("Einsum", 12, inferEinsum);
}

} // namespace mtc::onnx
