//===- Contraction.cpp - Matrix multiplication ------------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"
#include "frontend/onnx/operators/support/FusedActivation.h"
#include "frontend/onnx/operators/support/MatMul.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

//===--- Gemm ---------------------------------------------------------------------------------===//

/// alpha A' B' + beta C, with optional transposition of A and B.
struct GemmAttributes {
  double alpha, beta;
  bool transposesA, transposesB;

  static GemmAttributes read(NodeView &node) {
    return {node.floating("alpha", 1.0), node.floating("beta", 1.0), node.flag("transA", false),
            node.flag("transB", false)};
  }
};

/// Operands A and B are matrices; C broadcasts to [M, N].
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

/// The contraction names its axes, so no transpose is needed.
Value buildGemm(Conversion &node, const GemmAttributes &attributes) {
  auto [alpha, beta, transposesA, transposesB] = attributes;
  TensorBuilder &b = node.b;
  Value y = b.contract(node.value(0), node.value(1), {}, {}, {transposesA ? 0 : 1},
                       {transposesB ? 1 : 0});
  if (alpha != 1.0)
    y = b.mul(y, b.splat(y, alpha));
  if (node.has(2) && beta != 0.0) {
    Value c = node.broadcastValue(2, node.resultShape());
    y = b.add(y, beta == 1.0 ? c : b.mul(c, b.splat(c, beta)));
  }
  return y;
}

LogicalResult convertGemm(Conversion &node) {
  GemmAttributes attributes = GemmAttributes::read(node);
  if (node.failed())
    return failure();
  return node.result(0, buildGemm(node, attributes));
}

//===--- FusedGemm ----------------------------------------------------------------------------===//

LogicalResult inferFusedGemm(Inference &node) {
  if (failed(FusedActivation::readNamed(node)))
    return failure();
  return inferGemm(node);
}

LogicalResult convertFusedGemm(Conversion &node) {
  GemmAttributes attributes = GemmAttributes::read(node);
  FailureOr<FusedActivation> activation = FusedActivation::readNamed(node);
  if (node.failed() || failed(activation))
    return failure();
  return node.result(0, activation->build(node.b, buildGemm(node, attributes)));
}

//===--- MatMul: types and evaluation ---------------------------------------------------------===//

/// Maximum number of multiplications to fold at compile time.
constexpr int64_t maxFoldedProducts = int64_t(1) << 28;

LogicalResult inferMatMul(Inference &node) {
  if (!node.sameElementType(0, 1))
    return failure();
  FailureOr<MatMulShapes> shapes = matMulShapes(node, 0, 1);
  if (failed(shapes))
    return failure();
  return node.result(0, node.elementType(0), shapes->result);
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
  MatMulShapes shapes = *matMulShapes(node, 0, 1);
  int64_t products = node.resultType().getNumElements();
  if (products == 0 || products > maxFoldedElements ||
      llvm::MulOverflow(products, shapes.left.back(), products) || products > maxFoldedProducts)
    return;
  if (isa<FloatType>(node.elementType(0)))
    dispatchFloat(node.elementType(0),
                  [&](auto kind) { evaluateMatMulAs<decltype(kind)>(node, shapes); });
  else
    evaluateMatMulAs<uint64_t>(node, shapes); // The low bits are independent of the sign.
}

//===--- MatMul: conversion -------------------------------------------------------------------===//

LogicalResult convertMatMul(Conversion &node) {
  return node.result(0, matMul(node.b, node.value(0), node.value(1), node.resultShape()));
}

//===--- FusedMatMul --------------------------------------------------------------------------===//

/// Returns the permutation that onnxruntime applies to an operand of `rank`: `transBatch` moves
/// axis 0 after the batch axes, which are axes 1 to rank - 2, and `trans` then exchanges the last
/// two axes. Vectors are not transposed.
Extents fusedOrder(NodeView &node, int64_t rank, StringRef trans, StringRef transBatch) {
  bool exchanges = node.flag(trans, false), movesBatch = node.flag(transBatch, false);
  Extents order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (rank < 2)
    return order;
  if (movesBatch)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (exchanges)
    std::swap(order[rank - 2], order[rank - 1]);
  return order;
}

struct FusedMatMulAttributes {
  double alpha;
  Extents orderA, orderB;

  static FusedMatMulAttributes read(NodeView &node) {
    return {node.floating("alpha", 1.0), fusedOrder(node, node.rank(0), "transA", "transBatchA"),
            fusedOrder(node, node.rank(1), "transB", "transBatchB")};
  }
};

LogicalResult inferFusedMatMul(Inference &node) {
  FusedMatMulAttributes attributes = FusedMatMulAttributes::read(node);
  if (node.failed())
    return failure();
  bool movesBatch = node.flag("transBatchA", false) || node.flag("transBatchB", false);
  if (movesBatch && (node.rank(0) < 3 || node.rank(0) != node.rank(1)))
    return node.failure("attributes transBatchA and transBatchB require operands of one rank of at "
                        "least 3, got shapes " +
                        shapeText(node.shape(0)) + " and " + shapeText(node.shape(1)));
  if (!node.hasRank(0, 1) || !node.hasRank(1, 1))
    return failure();
  FailureOr<MatMulShapes> shapes =
      matMulShapes(node, applyPermutation(node.shape(0), attributes.orderA),
                   applyPermutation(node.shape(1), attributes.orderB));
  if (failed(shapes))
    return failure();
  return node.result(0, node.elementType(0), shapes->result);
}

/// alpha A' B'.
LogicalResult convertFusedMatMul(Conversion &node) {
  FusedMatMulAttributes attributes = FusedMatMulAttributes::read(node);
  if (node.failed())
    return failure();
  TensorBuilder &b = node.b;
  Value y = matMul(b, b.transpose(node.value(0), attributes.orderA),
                   b.transpose(node.value(1), attributes.orderB), node.resultShape());
  if (attributes.alpha != 1.0)
    y = b.mul(y, b.splat(y, attributes.alpha));
  return node.result(0, y);
}

} // namespace

void addContractionOperators(Operators &operators) {
  operators.add("com.microsoft::FusedGemm", 1,
                {.infer = inferFusedGemm,
                 .convert = convertFusedGemm,
                 .roles = {{0, OperandRole::Factor},
                           {1, OperandRole::Factor},
                           {2, OperandRole::BiasOrScale}}});
  operators.add("com.microsoft::FusedMatMul", 1,
                {.infer = inferFusedMatMul,
                 .convert = convertFusedMatMul,
                 .roles = {{0, OperandRole::Factor}, {1, OperandRole::Factor}}});
  operators.add("Gemm", 7,
                {.infer = inferGemm,
                 .convert = convertGemm,
                 .roles = {{0, OperandRole::Factor},
                           {1, OperandRole::Factor},
                           {2, OperandRole::BiasOrScale}}});
  operators.add("MatMul", 1,
                {.infer = inferMatMul,
                 .evaluate = evaluateMatMul,
                 .convert = convertMatMul,
                 .roles = {{0, OperandRole::Factor}, {1, OperandRole::Factor}}});
}

} // namespace mtc::onnx
