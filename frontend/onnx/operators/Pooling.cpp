//===- Pooling.cpp - Windowed and global pooling ----------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Formulas.h"
#include "frontend/onnx/operators/support/Inference.h"
#include "frontend/onnx/operators/support/Windows.h"
#include "ir/builders/Shape.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

FailureOr<Windows> readPool(NodeView &node) {
  if (!node.hasAttribute("kernel_shape"))
    return node.failure("attribute kernel_shape is missing");
  Extents kernel = node.integers("kernel_shape", {});
  if (node.failed())
    return failure();
  return readWindows(node, node.shape(0).drop_front(2), kernel);
}

bool countsPadding(NodeView &node) { return node.flag("count_include_pad", false); }
bool isColumnMajor(NodeView &node) { return node.flag("storage_order", false); }

/// MaxPool's second result contains indices into the operand.
LogicalResult inferPool(Inference &node) {
  if (!node.hasRank(0, 3))
    return failure();
  countsPadding(node);
  isColumnMajor(node);
  FailureOr<Windows> windows = readPool(node);
  if (failed(windows) || node.failed())
    return failure();
  Extents shape = windows->resultShape(node.dim(0, 0), node.dim(0, 1));
  if (failed(node.result(0, node.elementType(0), shape)) || node.opType() != "MaxPool")
    return success(!node.failed());
  return node.result(1, IntegerType::get(node.context(), 64), shape);
}

//===--- MaxPool ------------------------------------------------------------------------------===//

/// Returns the minimum value of an element type.
double minimum(Type element) {
  if (isa<FloatType>(element))
    return -INFINITY;
  return isUnsigned(element) ? 0.0 : -std::ldexp(1.0, element.getIntOrFloatBitWidth() - 1);
}

/// Returns the row-major number of each tap within its window, for windows of this shape.
Value tapNumbers(TensorBuilder &b, ArrayRef<int64_t> shape, const Windows &windows) {
  auto type = RankedTensorType::get(shape, b.getI32Type());
  Value number;
  for (auto [i, extent] : llvm::enumerate(windows.kernel)) {
    Value tap = b.iota(type, shape.size() - windows.kernel.size() + i);
    number = number ? b.add(b.mul(number, b.splat(type, extent)), tap) : tap;
  }
  return number;
}

/// Returns the linear index in the operand of tap number `tap` of each window: `(n * C + c) *
/// extents + i` for `[n, c, i…]`, with the spatial axes in row-major or column-major order.
Value indicesInOperand(Conversion &node, Value tap, const Windows &windows) {
  TensorBuilder &b = node.b;
  auto type = RankedTensorType::get(shapeOf(tap), b.getI64Type());
  auto times = [&](Value x, int64_t factor) { return b.mul(x, b.splat(type, factor)); };
  ArrayRef<int64_t> spatial = node.shape(0).drop_front(2);
  int64_t rank = spatial.size(), plane = elementCount(spatial);
  Value index =
      b.add(times(b.iota(type, 0), node.dim(0, 1) * plane), times(b.iota(type, 1), plane));
  Extents strides = rowMajorStrides(spatial);
  if (isColumnMajor(node)) {
    Extents reversed(llvm::reverse(spatial));
    strides = rowMajorStrides(reversed);
    std::reverse(strides.begin(), strides.end());
  }
  Value rest = b.cast(tap, b.getI64Type());
  for (int64_t i = rank - 1; i >= 0; --i) {
    Value extent = b.splat(type, windows.kernel[i]);
    Value place = b.add(times(b.iota(type, 2 + i), windows.strides[i]),
                        times(b.rem(rest, extent), windows.dilations[i]));
    index = b.add(index, times(b.sub(place, b.splat(type, windows.before[i])), strides[i]));
    rest = b.div(rest, extent);
  }
  return index;
}

/// Returns the first maximum of each window; NaN is the maximum. As in PyTorch, only that element
/// has a gradient.
LogicalResult convertMaxPool(Conversion &node) {
  FailureOr<Windows> windows = readPool(node);
  if (failed(windows))
    return failure();
  TensorBuilder &b = node.b;
  Type element = node.elementType(0);
  FailureOr<Value> slid = slide(node, b, node.value(0), *windows, minimum(element));
  if (failed(slid))
    return failure();
  if (elementCount(windows->kernel) > INT32_MAX)
    return node.failure("has a kernel of shape " + shapeText(windows->kernel) +
                        ", expected fewer elements than 2^31");
  ArrayRef<int64_t> shape = shapeOf(*slid);
  SmallVector<int64_t> taps = axesFrom(node.rank(0), shape.size());
  Value maximum = b.detach(b.reduce(ReductionKind::Max, *slid, taps));
  Value attains = b.compare(Predicate::Eq, *slid, b.broadcast(maximum, taps, shape));
  if (isa<FloatType>(element))
    attains = b.logicalOr(attains, b.isNan(*slid));
  Value number = tapNumbers(b, shape, *windows);
  Value none = b.splat(number, elementCount(windows->kernel));
  auto firstOf = [&](Value taken) {
    return b.reduce(ReductionKind::Min, b.select(taken, number, none), taps);
  };
  // The backward pass needs only this number, which is saved in a byte if that can hold it.
  bool fitsByte = elementCount(windows->kernel) <= INT8_MAX;
  Value saved = b.cast(firstOf(attains), fitsByte ? b.getI8Type() : b.getI32Type());
  Value first = b.cast(saved, b.getI32Type());
  Value isFirst = b.compare(Predicate::Eq, number, b.broadcast(first, taps, shape));
  Value y = b.sum(b.select(isFirst, *slid, b.splat(*slid, 0.0)), taps);
  if (failed(node.result(0, y)) || !node.wants(1))
    return success(!node.failed());
  // Padding may be equal to the maximum, but has no index.
  auto spatial = RankedTensorType::get(node.shape(0).drop_front(2), b.getI1Type());
  Value isElement = *slide(node, b, b.splat(spatial, 1.0), *windows, 0.0);
  Value index = firstOf(b.logicalAnd(attains, b.broadcast(isElement, {0, 1}, shape)));
  return node.result(1, indicesInOperand(node, index, *windows));
}

//===--- AveragePool --------------------------------------------------------------------------===//

/// Returns the number of taps per window along spatial axis `i` that count for the average: taps on
/// elements and, with count_include_pad, on explicit padding. Padding added by ceil_mode never
/// counts. Returns a single value if all windows have the same count.
FailureOr<SmallVector<double>> countedTaps(NodeView &node, const Windows &windows, size_t i) {
  int64_t extent = node.dim(0, 2 + i), kernel = windows.kernel[i], output = windows.output[i];
  bool all = countsPadding(node);
  int64_t begin = all ? -windows.before[i] : 0, end = all ? extent + windows.after[i] : extent;
  auto countAt = [&](int64_t window) {
    int64_t first = window * windows.strides[i] - windows.before[i];
    auto tapsBelow = [&](int64_t place) {
      return std::clamp<int64_t>(ceilDivide(place - first, windows.dilations[i]), 0, kernel);
    };
    return static_cast<double>(tapsBelow(end) - tapsBelow(begin));
  };
  // Only windows at the ends have fewer taps.
  auto full = static_cast<double>(kernel);
  if (countAt(0) == full && countAt(output - 1) == full)
    return SmallVector<double>{full};
  if (output > maxFoldedElements)
    return node.failure("averages " + Twine(output) + " windows over padding on axis " +
                        Twine(2 + i) + ", expected at most " + Twine(maxFoldedElements));
  SmallVector<double> counts = llvm::map_to_vector(llvm::seq<int64_t>(output),
                                                   [&](int64_t window) { return countAt(window); });
  if (llvm::all_equal(counts))
    counts.truncate(1);
  return counts;
}

/// Computes the mean of each window.
LogicalResult convertAveragePool(Conversion &node) {
  FailureOr<Windows> windows = readPool(node);
  if (failed(windows))
    return failure();
  TensorBuilder &b = node.b;
  Type element = node.elementType(0), sumType = computeType(b, element);
  FailureOr<Value> slid = slide(node, b, b.cast(node.value(0), sumType), *windows, 0.0);
  if (failed(slid))
    return failure();
  Value y = b.sum(*slid, axesFrom(node.rank(0), typeOf(*slid).getRank()));
  double everywhere = 1; // Common divisor of all windows.
  for (size_t i = 0; i < windows->kernel.size(); ++i) {
    FailureOr<SmallVector<double>> counts = countedTaps(node, *windows, i);
    if (failed(counts))
      return failure();
    if (counts->size() == 1) {
      everywhere *= counts->front();
      continue;
    }
    auto type = RankedTensorType::get(windows->output[i], sumType);
    Value count = b.constant(Tensor::fromValues<double>(type, *counts)->toAttribute());
    int64_t axis = 2 + static_cast<int64_t>(i);
    y = b.div(y, b.broadcast(count, otherAxes(node.rank(0), axis), shapeOf(y)));
  }
  y = b.mul(y, b.splat(y, 1 / everywhere));
  return node.result(0, b.cast(y, element));
}

//===--- LpPool -------------------------------------------------------------------------------===//

FailureOr<int64_t> readNorm(NodeView &node) {
  int64_t p = node.integer("p", 2);
  if (!node.failed() && p < 1)
    return node.failure("attribute p = " + Twine(p) + ", expected at least 1");
  if (node.failed())
    return failure();
  return p;
}

/// Returns (sum |x|^p)^(1/p) over axes, which are removed. The gradient of the root is defined as 0
/// where all elements are 0.
Value normOver(TensorBuilder &b, Value x, ArrayRef<int64_t> axes, int64_t p) {
  Type element = typeOf(x).getElementType();
  x = b.cast(x, computeType(b, element));
  Value power = p == 1   ? b.abs(x)
                : p == 2 ? b.mul(x, x)
                         : b.pow(b.abs(x), b.splat(x, static_cast<double>(p)));
  Value total = b.sum(power, axes);
  if (p > 1) {
    Value zero = b.splat(total, 0.0), isZero = b.compare(Predicate::Eq, total, zero);
    Value positive = b.select(isZero, b.splat(total, 1.0), total);
    Value root = p == 2 ? b.sqrt(positive)
                        : b.pow(positive, b.splat(positive, 1.0 / static_cast<double>(p)));
    total = b.select(isZero, zero, root);
  }
  return b.cast(total, element);
}

LogicalResult inferLpPool(Inference &node) {
  return success(succeeded(readNorm(node)) && succeeded(inferPool(node)));
}

/// Computes the p-norm of each window; padding counts as 0.
LogicalResult convertLpPool(Conversion &node) {
  FailureOr<int64_t> p = readNorm(node);
  FailureOr<Windows> windows = readPool(node);
  if (failed(p) || failed(windows))
    return failure();
  FailureOr<Value> slid = slide(node, node.b, node.value(0), *windows, 0.0);
  if (failed(slid))
    return failure();
  return node.result(0,
                     normOver(node.b, *slid, axesFrom(node.rank(0), typeOf(*slid).getRank()), *p));
}

//===--- Global pooling -----------------------------------------------------------------------===//

/// Infers [N, C, 1, …] for [N, C, …].
LogicalResult inferGlobalPool(Inference &node) {
  if (!node.hasRank(0, 2))
    return failure();
  Extents shape(node.rank(0), 1);
  shape[0] = node.dim(0, 0);
  shape[1] = node.dim(0, 1);
  return node.result(0, node.elementType(0), shape);
}

/// Computes the mean over all spatial axes.
LogicalResult convertGlobalAveragePool(Conversion &node) {
  Value mean = meanOver(node.b, node.value(0), axesFrom(2, node.rank(0)));
  return node.result(0, node.b.reshape(mean, node.resultShape()));
}

LogicalResult convertGlobalMaxPool(Conversion &node) {
  Value maximum = node.b.reduce(ReductionKind::Max, node.value(0), axesFrom(2, node.rank(0)));
  return node.result(0, node.b.reshape(maximum, node.resultShape()));
}

LogicalResult inferGlobalLpPool(Inference &node) {
  return success(succeeded(readNorm(node)) && succeeded(inferGlobalPool(node)));
}

LogicalResult convertGlobalLpPool(Conversion &node) {
  FailureOr<int64_t> p = readNorm(node);
  if (failed(p))
    return failure();
  Value norm = normOver(node.b, node.value(0), axesFrom(2, node.rank(0)), *p);
  return node.result(0, node.b.reshape(norm, node.resultShape()));
}

//===--- MaxUnpool ----------------------------------------------------------------------------===//

/// Returns the shape that the indices address: stride · (extent − 1) + kernel − padding.
FailureOr<Extents> unpooledShape(NodeView &node) {
  FailureOr<Windows> windows = [&]() -> FailureOr<Windows> {
    if (!node.hasAttribute("kernel_shape"))
      return node.failure("attribute kernel_shape is missing");
    Extents kernel = node.integers("kernel_shape", {});
    if (node.failed())
      return failure();
    return readTransposedWindows(node, node.shape(0).drop_front(2), kernel);
  }();
  if (failed(windows))
    return failure();
  return windows->resultShape(node.dim(0, 0), node.dim(0, 1));
}

/// X and I are [N, C, …]. Operand 2 is the result's shape, if larger than the inferred one.
LogicalResult inferMaxUnpool(Inference &node) {
  if (!node.hasRank(0, 3) || !node.integerElements(1))
    return failure();
  if (node.shape(0) != node.shape(1))
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected the shape of the values, " + shapeText(node.shape(0)));
  FailureOr<Extents> shape = unpooledShape(node);
  if (failed(shape))
    return failure();
  if (node.has(2)) {
    std::optional<Extents> given = node.constantInts(2);
    if (!given)
      return node.needsConstant(2);
    bool holds = given->size() == shape->size();
    for (size_t i = 0; holds && i < shape->size(); ++i)
      holds = i < 2 ? (*given)[i] == (*shape)[i] : (*given)[i] >= (*shape)[i];
    if (!holds)
      return node.failure(Twine(node.operandName(2)) + " = " + shapeText(*given) +
                          ", expected at least " + shapeText(*shape) +
                          ", with equal first two extents");
    shape = *given;
  }
  return node.result(0, node.elementType(0), *shape);
}

/// Writes each value at its index, and 0 elsewhere. Overlapping windows may write an element
/// several times, with equal values if they come from pooling. Their mean is that value, and its
/// gradient is counted once.
LogicalResult convertMaxUnpool(Conversion &node) {
  FailureOr<Extents> shape = unpooledShape(node);
  if (failed(shape))
    return failure();
  TensorBuilder &b = node.b;
  int64_t count = node.type(0).getNumElements(), places = elementCount(*shape);
  Value indices = b.reshape(node.value(1), {count});
  auto spread = [&](Value updates) {
    return b.scatterAdd(b.reshape(updates, {count}), indices, 0, 0, places);
  };
  Type element = node.elementType(0), type = computeType(b, element);
  Value x = b.cast(node.value(0), type);
  Value times = spread(b.splat(x, 1.0));
  Value y = b.div(spread(x), b.max(times, b.splat(times, 1.0)));
  y = b.cast(b.reshape(y, *shape), element);
  Extents low(shape->size(), 0), high = low;
  for (auto [i, extent] : llvm::enumerate(node.resultShape()))
    high[i] = extent - (*shape)[i];
  return node.result(0, llvm::equal(*shape, node.resultShape()) ? y : b.pad(y, low, high, low));
}

} // namespace

void addPoolingOperators(Operators &operators) {
  operators.add("MaxPool", 1, {.infer = inferPool, .convert = convertMaxPool});
  operators.add("AveragePool", 1, {.infer = inferPool, .convert = convertAveragePool});
  operators.add("LpPool", 1, {.infer = inferLpPool, .convert = convertLpPool});
  operators.add("GlobalAveragePool", 1,
                {.infer = inferGlobalPool, .convert = convertGlobalAveragePool});
  operators.add("GlobalMaxPool", 1, {.infer = inferGlobalPool, .convert = convertGlobalMaxPool});
  operators.add("GlobalLpPool", 1, {.infer = inferGlobalLpPool, .convert = convertGlobalLpPool});
  operators.add("MaxUnpool", 9, {.infer = inferMaxUnpool, .convert = convertMaxUnpool});
}

} // namespace mtc::onnx
