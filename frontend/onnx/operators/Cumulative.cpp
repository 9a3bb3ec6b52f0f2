//===- Cumulative.cpp - Cumulative sums and products ------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

struct Scan {
  int64_t axis;
  bool isExclusive, isReversed;
};

FailureOr<Scan> readScan(NodeView &node) {
  bool isExclusive = node.flag("exclusive", false), isReversed = node.flag("reverse", false);
  if (!node.integerElements(1))
    return failure();
  std::optional<Extents> axis = node.constantInts(1);
  if (!axis)
    return node.needsConstant(1);
  if (axis->size() != 1)
    return node.failure(Twine(node.operandName(1)) + " has " + Twine(axis->size()) +
                        " elements, expected 1");
  Scan scan{node.normalized(axis->front(), node.rank(0), node.operandName(1)), isExclusive,
            isReversed};
  if (node.failed())
    return failure();
  return scan;
}

LogicalResult inferCumulative(Inference &node) {
  if (failed(readScan(node)))
    return failure();
  return node.result(0, node.type(0));
}

/// Folds the scan along an axis that starts with `initial` and accumulates with `combine`.
template <typename Combine>
void evaluateCumulative(Inference &node, int64_t initial, Combine combine) {
  Scan scan = *readScan(node);
  int64_t extent = node.dim(0, scan.axis);
  int64_t inner = elementCount(node.shape(0).drop_front(scan.axis + 1));
  int64_t outer = elementCount(node.shape(0).take_front(scan.axis));
  if (node.type(0).getNumElements() > maxFoldedElements)
    return;
  dispatchNumber(node.elementType(0), [&](auto kind) {
    using T = decltype(kind);
    std::vector<T> values = node.tensor(0).template values<T>();
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        T total = static_cast<T>(initial);
        for (int64_t k = 0; k < extent; ++k) {
          int64_t at = scan.isReversed ? extent - 1 - k : k;
          T &value = values[(o * extent + at) * inner + i];
          T before = total;
          total = combine(total, value);
          value = scan.isExclusive ? before : total;
        }
      }
    node.fold(0, Tensor::fromValues<T>(node.resultType(), values));
  });
}

void evaluateCumSum(Inference &node) {
  evaluateCumulative(node, 0, [](auto a, auto b) { return sumOf(a, b); });
}

void evaluateCumProd(Inference &node) {
  evaluateCumulative(node, 1, [](auto a, auto b) { return productOf(a, b); });
}

LogicalResult convertCumSum(Conversion &node) {
  FailureOr<Scan> scan = readScan(node);
  if (failed(scan))
    return failure();
  return node.result(
      0, node.b.cumulativeSum(node.value(0), scan->axis, scan->isExclusive, scan->isReversed));
}

/// Computes cumulative products by doubling (Hillis and Steele, "Data parallel algorithms", 1986):
/// after step k, each element is the product of the 2^k elements that end with it.
LogicalResult convertCumProd(Conversion &node) {
  FailureOr<Scan> scan = readScan(node);
  if (failed(scan))
    return failure();
  TensorBuilder &b = node.b;
  int64_t rank = node.rank(0), extent = node.dim(0, scan->axis);
  Extents zero(rank, 0), one(rank, 1);
  // Shifts x by `places` along the axis, filling with ones at the beginning.
  auto shifted = [&](Value x, int64_t places) {
    Extents low = zero, sizes(shapeOf(x));
    low[scan->axis] = places;
    sizes[scan->axis] -= places;
    return b.pad(b.slice(x, zero, sizes, one), low, zero, zero, 1.0);
  };
  Value y = node.value(0);
  if (scan->isReversed)
    y = b.reverse(y, {scan->axis});
  if (scan->isExclusive && extent > 0)
    y = shifted(y, 1);
  for (int64_t step = 1; step < extent; step *= 2)
    y = b.mul(y, shifted(y, step));
  if (scan->isReversed)
    y = b.reverse(y, {scan->axis});
  return node.result(0, y);
}

} // namespace

void addCumulativeOperators(Operators &operators) {
  operators.add("CumSum", 11,
                {.infer = inferCumulative, .evaluate = evaluateCumSum, .convert = convertCumSum});
  operators.add("CumProd", 26,
                {.infer = inferCumulative, .evaluate = evaluateCumProd, .convert = convertCumProd});
}

} // namespace mtc::onnx
