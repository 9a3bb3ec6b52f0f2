//===- Determinant.cpp - Det ------------------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Inference.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// The matrices are the last two axes, which are removed.
LogicalResult inferDet(Inference &node) {
  if (!node.hasRank(0, 2))
    return failure();
  ArrayRef<int64_t> shape = node.shape(0);
  if (shape.back() != shape[shape.size() - 2])
    return node.failure(Twine(node.operandName(0)) + " has shape " + shapeText(shape) +
                        ", expected square matrices");
  return node.result(0, node.elementType(0), shape.drop_back(2));
}

/// Swaps the first row of matrices [N, rows, columns] with row `pivot` [N, 1].
Value swapRows(TensorBuilder &b, Value matrices, Value pivot) {
  SmallVector<int64_t> shape{shapeOf(matrices)[0], shapeOf(matrices)[1]};
  Value place = b.iota(RankedTensorType::get(shape, b.getI64Type()), 1), zero = b.splat(place, 0.0);
  Value chosen = b.broadcast(b.reshape(pivot, {shape[0]}), {1}, shape);
  Value source = b.select(b.compare(Predicate::Eq, place, zero), chosen,
                          b.select(b.compare(Predicate::Eq, place, chosen), zero, place));
  return b.gather(matrices, source, 1, 1);
}

/// Computes the product of the pivots of Gaussian elimination with partial pivoting, times the sign
/// of the row permutation. A column of zeros is skipped; the determinant is then 0.
LogicalResult convertDet(Conversion &node) {
  TensorBuilder &b = node.b;
  int64_t size = node.shape(0).back();
  constexpr int64_t maximum = 64;
  if (size > maximum)
    return node.failure("has matrices of " + Twine(size) + " rows, expected at most " +
                        Twine(maximum));
  Type element = node.elementType(0);
  int64_t count = elementCount(node.shape(0).drop_back(2));
  Value a = b.reshape(b.cast(node.value(0), computeType(b, element)), {count, size, size});
  Value determinant = b.splat(RankedTensorType::get(count, typeOf(a).getElementType()), 1.0);
  for (int64_t left = size; left > 0; --left) {
    Value column = b.reshape(b.slice(a, {0, 0, 0}, {count, left, 1}, {1, 1, 1}), {count, left});
    if (left > 1) {
      Value largest = topK(b, b.detach(b.abs(column)), 1, 1, /*smallest=*/false).second;
      a = swapRows(b, a, largest);
      column = b.reshape(b.slice(a, {0, 0, 0}, {count, left, 1}, {1, 1, 1}), {count, left});
      Value isSwapped = b.compare(Predicate::Ne, largest, b.splat(largest, 0.0));
      isSwapped = b.reshape(isSwapped, {count});
      determinant = b.select(isSwapped, b.neg(determinant), determinant);
    }
    Value pivot = b.reshape(b.slice(column, {0, 0}, {count, 1}, {1, 1}), {count});
    determinant = b.mul(determinant, pivot);
    if (left == 1)
      break;
    Value isZero = b.compare(Predicate::Eq, pivot, b.splat(pivot, 0.0));
    Value divisor = b.select(isZero, b.splat(pivot, 1.0), pivot);
    SmallVector<int64_t> rest{count, left - 1, left - 1}, rows{count, left - 1};
    Value factor = b.div(b.slice(column, {0, 1}, rows, {1, 1}), b.broadcast(divisor, {1}, rows));
    Value row = b.reshape(b.slice(a, {0, 0, 1}, {count, 1, left - 1}, {1, 1, 1}), rows);
    Value below = b.slice(a, {0, 1, 1}, rest, {1, 1, 1});
    a = b.sub(below, b.mul(b.broadcast(factor, {2}, rest), b.broadcast(row, {1}, rest)));
  }
  return node.result(0, b.cast(b.reshape(determinant, node.resultShape()), element));
}

} // namespace

void addDeterminantOperators(Operators &operators) {
  operators.add("Det", 11, {.infer = inferDet, .convert = convertDet});
}

} // namespace mtc::onnx
