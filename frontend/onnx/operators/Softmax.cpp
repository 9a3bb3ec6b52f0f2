//===- Softmax.cpp - Softmax, LogSoftmax and Hardmax ------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"
#include "frontend/onnx/operators/support/Formulas.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// A tensor viewed as [outer, extent, inner], normalized along `extent`: all axes from `axis`
/// (default: 1) on before version 13, then the single axis `axis` (default: -1). A scalar is a row
/// of one element.
struct Rows {
  int64_t outer, extent, inner;
  std::optional<int64_t> axis; ///< The normalized axis of the operand, if it is a single one.
};

FailureOr<Rows> readRows(NodeView &node) {
  bool joinsAxes = node.version() < 13;
  int64_t axis = node.integer("axis", joinsAxes ? 1 : -1), rank = node.rank(0);
  ArrayRef<int64_t> shape = node.shape(0);
  if ((rank == 0 && (axis == 0 || axis == -1)) || (joinsAxes && axis == rank))
    return Rows{elementCount(shape), 1, 1, std::nullopt};
  axis = node.normalized(axis, rank, "attribute axis");
  if (node.failed())
    return failure();
  int64_t outer = elementCount(shape.take_front(axis));
  if (joinsAxes)
    return Rows{outer, elementCount(shape.drop_front(axis)), 1, std::nullopt};
  return Rows{outer, shape[axis], elementCount(shape.drop_front(axis + 1)), axis};
}

LogicalResult inferRows(Inference &node) {
  if (!node.floatElements(0) || failed(readRows(node)))
    return failure();
  return node.result(0, node.type(0));
}

template <bool logarithm> void evaluateSoftmax(Inference &node) {
  Rows rows = *readRows(node);
  if (node.type(0).getNumElements() == 0)
    return;
  dispatchFloat(node.elementType(0), [&](auto kind) {
    int64_t extent = rows.extent, inner = rows.inner;
    using T = decltype(kind);
    std::vector<T> values = node.tensor(0).template values<T>();
    for (int64_t o = 0; o < rows.outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        auto at = [&](int64_t k) -> T & { return values[(o * extent + k) * inner + i]; };
        T greatest = at(0), total = 0;
        for (int64_t k = 1; k < extent; ++k)
          greatest = std::max(greatest, at(k));
        for (int64_t k = 0; k < extent; ++k)
          total += std::exp(at(k) - greatest);
        for (int64_t k = 0; k < extent; ++k)
          at(k) =
              logarithm ? at(k) - greatest - std::log(total) : std::exp(at(k) - greatest) / total;
      }
    node.fold(0, Tensor::fromValues<T>(node.resultType(), values));
  });
}

using RowFunction = llvm::function_ref<Value(TensorBuilder &b, Value x, int64_t axis)>;

/// Applies the function to each row, after collapsing rows of several axes.
LogicalResult convertRows(Conversion &node, RowFunction function) {
  FailureOr<Rows> rows = readRows(node);
  if (failed(rows))
    return failure();
  TensorBuilder &b = node.b;
  Value x = node.value(0);
  if (!rows->axis)
    x = b.reshape(x, {rows->outer, rows->extent});
  return node.result(0, b.reshape(function(b, x, rows->axis.value_or(1)), node.resultShape()));
}

/// Applies the function in the arithmetic of `computeType`.
Value inComputeType(TensorBuilder &b, Value x, int64_t axis, RowFunction function) {
  Type element = typeOf(x).getElementType();
  return b.cast(function(b, b.cast(x, computeType(b, element)), axis), element);
}

LogicalResult convertSoftmax(Conversion &node) {
  return convertRows(node, [](TensorBuilder &b, Value x, int64_t axis) {
    return inComputeType(b, x, axis, softmax);
  });
}

LogicalResult convertLogSoftmax(Conversion &node) {
  return convertRows(node, [](TensorBuilder &b, Value x, int64_t axis) {
    return inComputeType(b, x, axis, logSoftmax);
  });
}

/// Softmax of rows that may be fully masked. This is not an ONNX operator; passes that recognize
/// exported patterns create it.
LogicalResult convertSafeSoftmax(Conversion &node) {
  return node.result(0, inComputeType(node.b, node.value(0), node.integer("axis"), safeSoftmax));
}

/// Returns 1 at the first maximum of each row, 0 elsewhere.
LogicalResult convertHardmax(Conversion &node) {
  return convertRows(node, [](TensorBuilder &b, Value x, int64_t axis) {
    Value index = topK(b, x, axis, 1, /*smallest=*/false).second;
    Value place = b.iota(RankedTensorType::get(shapeOf(x), b.getI64Type()), axis);
    Value isHot = b.compare(Predicate::Eq, b.broadcastTo(index, shapeOf(x)), place);
    return b.select(isHot, b.splat(x, 1.0), b.splat(x, 0.0));
  });
}

} // namespace

void addSoftmaxOperators(Operators &operators) {
  operators.add(
      "Softmax", 1,
      {.infer = inferRows, .evaluate = evaluateSoftmax<false>, .convert = convertSoftmax});
  operators.add(
      "LogSoftmax", 1,
      {.infer = inferRows, .evaluate = evaluateSoftmax<true>, .convert = convertLogSoftmax});
  operators.add("Hardmax", 1, {.infer = inferRows, .convert = convertHardmax});
  operators.add("mtc::SafeSoftmax", 1, {.convert = convertSafeSoftmax});
}

} // namespace mtc::onnx
