//===- Contraction.cpp - Contractions as ONNX nodes -------------------------------------------===//

#include "frontend/onnx/writer/Conversions.h"

#include "mlir/IR/Builders.h"

#include <numeric>
#include <optional>

using namespace mlir;

namespace mtc::onnx {
namespace {

int64_t product(ArrayRef<int64_t> extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
}

/// Returns the extents of some axes.
SmallVector<int64_t> select(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  return llvm::map_to_vector(axes, [&](int64_t axis) { return shape[axis]; });
}

SmallVector<int64_t> concatenate(ArrayRef<int64_t> a, ArrayRef<int64_t> b, ArrayRef<int64_t> c) {
  SmallVector<int64_t> all(a);
  llvm::append_range(all, b);
  llvm::append_range(all, c);
  return all;
}

/// Returns a type that MatMul supports: integers below 32 bits are multiplied in 32 bits.
Type computedElement(Type element) {
  if (isa<FloatType>(element) || element.getIntOrFloatBitWidth() >= 32)
    return element;
  return IntegerType::get(element.getContext(), 32,
                          isUnsigned(element) ? IntegerType::Unsigned : IntegerType::Signless);
}

/// The number of elements of each group of axes.
struct Extents {
  int64_t rows, over, columns;
};

/// An operand as a matrix, or as its transpose.
struct Matrix {
  GraphValue value;
  bool isTransposed;
};

/// Merges two groups of axes to the matrix [first, second], or to its transpose if that needs no
/// data movement.
Matrix merge(GraphBuilder &b, const GraphValue &x, ArrayRef<int64_t> first,
             ArrayRef<int64_t> second) {
  const int64_t m = product(select(x.shape(), first)), n = product(select(x.shape(), second));
  if (SmallVector<int64_t> order = concatenate(second, first, {}); llvm::is_sorted(order))
    if (!first.empty() && !second.empty())
      return {b.reshape(x, {n, m}), true};
  return {b.reshape(b.transpose(x, concatenate(first, second, {})), {m, n}), false};
}

GraphValue straighten(GraphBuilder &b, const Matrix &matrix) {
  return matrix.isTransposed ? b.transpose(matrix.value, {1, 0}) : matrix.value;
}

/// Gemm transposes its operands itself, and exists for floats only.
GraphValue multiply(GraphBuilder &b, const Matrix &lhs, const Matrix &rhs, RankedTensorType type) {
  if (!lhs.isTransposed && !rhs.isTransposed)
    return b.node("MatMul", {lhs.value, rhs.value}, type);
  if (isa<FloatType>(type.getElementType()))
    return b.node("Gemm", {lhs.value, rhs.value}, type,
                  {{"transA", static_cast<int64_t>(lhs.isTransposed)},
                   {"transB", static_cast<int64_t>(rhs.isTransposed)}});
  return b.node("MatMul", {straighten(b, lhs), straighten(b, rhs)}, type);
}

/// If the contracted axis is an inner one, multiplies the matrices [over, last] of the left operand
/// by the right operand from the left. Convolutions with one tap have this form, because the
/// channels are axis 1 in ONNX. Transposes of the operand and of the result then cancel.
std::optional<GraphValue> contractInnerAxis(GraphBuilder &b, const GraphValue &lhs,
                                            const Matrix &columnsByOver, ContractOp op,
                                            const Extents &extents) {
  auto [source, order] = b.withoutTranspose(lhs);
  if (op.getLhsContract().size() != 1)
    return std::nullopt;
  const int64_t over = order[op.getLhsContract().front()], last = source.rank() - 1;
  if (over == 0 || over == last)
    return std::nullopt;
  SmallVector<int64_t> shape(source.shape()), axes;
  shape[over] = extents.columns;
  ArrayRef<int64_t> before = source.shape().take_front(over);
  const int64_t after = product(source.shape().drop_front(over + 1));
  GraphValue stack = b.reshape(source, concatenate(before, extents.over, after));
  GraphValue result =
      b.node("MatMul", {straighten(b, columnsByOver), stack},
             b.typeOf(concatenate(before, extents.columns, after), source.element()));
  for (int64_t axis : op.getLhsFree())
    axes.push_back(order[axis]);
  axes.push_back(over);
  return b.transpose(b.reshape(result, shape), axes);
}

GraphValue contractMatrices(GraphBuilder &b, const GraphValue &lhs, const GraphValue &rhs,
                            ContractOp op, const Extents &extents) {
  const SmallVector<int64_t> lhsFree = op.getLhsFree(), rhsFree = op.getRhsFree();
  Matrix right = merge(b, rhs, op.getRhsContract(), rhsFree);
  if (auto result =
          contractInnerAxis(b, lhs, merge(b, rhs, rhsFree, op.getRhsContract()), op, extents))
    return *result;
  const bool isStack = lhs.rank() > 2 && op.getLhsContract() == ArrayRef<int64_t>(lhs.rank() - 1);
  if (isStack) { // MatMul broadcasts the right matrix to all matrices of the left operand.
    SmallVector<int64_t> shape(lhs.shape().drop_back());
    shape.push_back(extents.columns);
    return b.node("MatMul", {lhs, straighten(b, right)}, b.typeOf(shape, lhs.element()));
  }
  Matrix left = merge(b, lhs, lhsFree, op.getLhsContract());
  return multiply(b, left, right, b.typeOf({extents.rows, extents.columns}, lhs.element()));
}

/// With the axes in the order [batch, lhs free, contracted] and [batch, contracted, rhs free], each
/// group merged to one axis, the contraction is a MatMul.
GraphValue contractBatches(GraphBuilder &b, const GraphValue &lhs, const GraphValue &rhs,
                           ContractOp op, const Extents &extents) {
  const SmallVector<int64_t> lhsFree = op.getLhsFree(), rhsFree = op.getRhsFree();
  const SmallVector<int64_t> batch = select(lhs.shape(), op.getLhsBatch());
  GraphValue left = b.transpose(lhs, concatenate(op.getLhsBatch(), lhsFree, op.getLhsContract()));
  GraphValue right = b.transpose(rhs, concatenate(op.getRhsBatch(), op.getRhsContract(), rhsFree));
  return b.node("MatMul",
                {b.reshape(left, concatenate(batch, extents.rows, extents.over)),
                 b.reshape(right, concatenate(batch, extents.over, extents.columns))},
                b.typeOf(concatenate(batch, extents.rows, extents.columns), lhs.element()));
}

GraphValue convertContract(ContractOp op, GraphBuilder &b) {
  RankedTensorType type = op.getResult().getType();
  Type element = computedElement(type.getElementType());
  GraphValue lhs = b.cast(b.get(op.getLhs()), element), rhs = b.cast(b.get(op.getRhs()), element);
  const Extents extents = {product(select(lhs.shape(), op.getLhsFree())),
                           product(select(lhs.shape(), op.getLhsContract())),
                           product(select(rhs.shape(), op.getRhsFree()))};
  GraphValue result = op.getLhsBatch().empty() ? contractMatrices(b, lhs, rhs, op, extents)
                                               : contractBatches(b, lhs, rhs, op, extents);
  return b.cast(b.reshape(result, type.getShape()), type.getElementType());
}

} // namespace

void addContractionConversions(Conversions &conversions) { conversions.add(convertContract); }

} // namespace mtc::onnx
