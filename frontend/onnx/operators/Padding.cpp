//===- Padding.cpp - Pad and CenterCropPad ----------------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Mode, and number of elements to add before and after each axis; negative amounts crop.
struct Padding {
  StringRef mode;
  Extents low, high;
};

/// Reads `pads`: all begins, followed by all ends, of the axes in operand 3 (since version 18) or
/// of all axes. Pads are an attribute before version 11.
FailureOr<Padding> readPadding(NodeView &node) {
  int64_t rank = node.rank(0);
  Padding padding{node.choice("mode", "constant", {"constant", "reflect", "edge", "wrap"}),
                  Extents(rank, 0), Extents(rank, 0)};
  std::optional<Extents> pads =
      node.version() < 11 ? node.integersOr("pads") : node.constantInts(1);
  if (!pads && node.version() >= 11)
    return node.needsConstant(1);
  Extents axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.has(3)) {
    std::optional<Extents> given = node.constantInts(3);
    if (!given)
      return node.needsConstant(3);
    axes = node.normalizedAxes(*given, rank, "axes");
  }
  if (node.failed())
    return failure();
  if (!pads || pads->size() != 2 * axes.size())
    return node.failure("has " + Twine(pads ? pads->size() : 0) + " paddings, expected " +
                        Twine(2 * axes.size()));
  for (auto [i, axis] : llvm::enumerate(axes)) {
    padding.low[axis] = (*pads)[i];
    padding.high[axis] = (*pads)[axes.size() + i];
  }
  return padding;
}

/// Returns the padding value of mode constant without operand 2: an attribute before version 11.
double defaultFill(NodeView &node) {
  return node.version() < 11 ? node.floating("value", 0.0) : 0.0;
}

LogicalResult inferPad(Inference &node) {
  defaultFill(node);
  FailureOr<Padding> padding = readPadding(node);
  if (failed(padding) || !node.hasOneElement(2))
    return failure();
  StringRef mode = padding->mode;
  Extents shape;
  for (int64_t axis = 0; axis < node.rank(0); ++axis) {
    int64_t before = padding->low[axis], after = padding->high[axis], extent = node.dim(0, axis);
    // Negative amounts crop first.
    int64_t kept = 0;
    if (llvm::AddOverflow(extent, std::min<int64_t>(before, 0), kept) ||
        llvm::AddOverflow(kept, std::min<int64_t>(after, 0), kept) || kept < 0)
      return node.failure("crops more elements of axis " + Twine(axis) + " than its " +
                          Twine(extent));
    if (mode == "reflect" && (before >= kept || after >= kept) && (before > 0 || after > 0))
      return node.failure("reflects " + Twine(std::max(before, after)) + " elements of axis " +
                          Twine(axis) + ", which has " + Twine(kept));
    if ((mode == "edge" || mode == "wrap") && kept == 0 && (before > 0 || after > 0))
      return node.failure("repeats elements of axis " + Twine(axis) + ", which is empty");
    int64_t &padded = shape.emplace_back();
    if (llvm::AddOverflow(extent, before, padded) || llvm::AddOverflow(padded, after, padded))
      return node.failure("pads axis " + Twine(axis) + " by more than can be addressed");
  }
  return node.result(0, node.elementType(0), shape);
}

/// Returns the source index of position `i`, relative to the operand's first element; -1 for the
/// constant value.
int64_t sourceIndex(StringRef mode, int64_t i, int64_t extent) {
  if (i >= 0 && i < extent)
    return i;
  if (mode == "constant")
    return -1;
  if (mode == "edge")
    return std::clamp<int64_t>(i, 0, extent - 1);
  auto wrapped = [](int64_t value, int64_t period) { return ((value % period) + period) % period; };
  if (mode == "wrap")
    return wrapped(i, extent);
  // Reflects without repeating the border: 2 1 0 1 2 1 0 ..., with period 2 (extent - 1).
  if (extent == 1)
    return 0;
  int64_t period = 2 * (extent - 1), index = wrapped(i, period);
  return index < extent ? index : period - index;
}

void evaluatePad(Inference &node) {
  Padding padding = *readPadding(node);
  auto scalar = RankedTensorType::get({}, node.elementType(0));
  Tensor fill =
      node.has(2) ? node.tensor(2) : *Tensor::fromValues<double>(scalar, defaultFill(node));
  Extents strides = rowMajorStrides(node.shape(0)), result = rowMajorStrides(node.resultShape());
  auto indexOf = [&](int64_t linear) {
    int64_t from = 0;
    for (int64_t axis = 0; axis < node.rank(0); ++axis) {
      int64_t i = linear / result[axis] - padding.low[axis];
      linear %= result[axis];
      int64_t index = sourceIndex(padding.mode, i, node.dim(0, axis));
      if (index < 0)
        return int64_t(-1);
      from += index * strides[axis];
    }
    return from;
  };
  node.fold(0, indexedCopy(node.tensor(0), node.resultType(), indexOf, &fill));
}

/// Crops by the negative amounts, and sets them to 0.
Value crop(TensorBuilder &b, Value x, Padding &padding) {
  SmallVector<int64_t> offsets, sizes(shapeOf(x)), strides(sizes.size(), 1);
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t low = std::min<int64_t>(padding.low[i], 0),
            high = std::min<int64_t>(padding.high[i], 0);
    offsets.push_back(-low);
    sizes[i] += low + high;
    padding.low[i] -= low;
    padding.high[i] -= high;
  }
  return shapeOf(x) == ArrayRef(sizes) ? x : b.slice(x, offsets, sizes, strides);
}

/// Fails if a padded axis has more elements than a table of their sources can have.
LogicalResult checkTables(Conversion &node, const Padding &padding) {
  for (int64_t axis = 0; axis < node.rank(0); ++axis)
    if ((padding.low[axis] != 0 || padding.high[axis] != 0) &&
        node.resultShape()[axis] > maxFoldedElements)
      return node.failure("repeats elements of axis " + Twine(axis) + " in mode " + padding.mode +
                          ", whose " + Twine(node.resultShape()[axis]) +
                          " elements are more than the supported " + Twine(maxFoldedElements) +
                          "; pad with mode constant, or split the axis");
  return success();
}

/// Pads with mode edge, reflect or wrap by a gather along each padded axis.
Value padByIndex(TensorBuilder &b, Value x, const Padding &padding) {
  for (int64_t axis = 0; axis < typeOf(x).getRank(); ++axis) {
    int64_t low = padding.low[axis], high = padding.high[axis], extent = shapeOf(x)[axis];
    if (low == 0 && high == 0)
      continue;
    SmallVector<int64_t> indices;
    for (int64_t i = -low; i < extent + high; ++i)
      indices.push_back(sourceIndex(padding.mode, i, extent));
    auto type = RankedTensorType::get(indices.size(), b.getI64Type());
    x = b.gather(x, b.constant(DenseElementsAttr::get(type, ArrayRef(indices))), axis, 0);
  }
  return x;
}

LogicalResult convertPad(Conversion &node) {
  FailureOr<Padding> padding = readPadding(node);
  double fill = defaultFill(node);
  if (failed(padding) || node.failed())
    return failure();
  if (node.has(2)) {
    auto value = node.constantFloats(2);
    if (!value)
      return node.needsConstant(2);
    fill = value->front();
  }
  if (padding->mode != "constant" && failed(checkTables(node, *padding)))
    return failure();
  Value x = crop(node.b, node.value(0), *padding);
  if (padding->mode != "constant")
    return node.result(0, padByIndex(node.b, x, *padding));
  if (shapeOf(x) == node.resultShape())
    return node.result(0, x);
  SmallVector<int64_t> interior(node.rank(0), 0);
  return node.result(0, node.b.pad(x, padding->low, padding->high, interior, fill));
}

//===--- CenterCropPad ------------------------------------------------------------------------===//

/// Operand 1 contains the extents of `axes`, or of all axes.
LogicalResult inferCenterCropPad(Inference &node) {
  Extents axes = node.axes("axes", node.rank(0))
                     .value_or(llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0))));
  if (node.failed())
    return failure();
  std::optional<Extents> given = node.constantInts(1);
  if (!given)
    return node.needsConstant(1);
  if (given->size() != axes.size())
    return node.failure(Twine(node.operandName(1)) + " has " + Twine(given->size()) +
                        " extents, expected " + Twine(axes.size()));
  Extents shape(node.shape(0));
  for (auto [axis, extent] : llvm::zip(axes, *given)) {
    if (extent < 0 || extent > maxElements)
      return node.failure(Twine(node.operandName(1)) + " has invalid extent " + Twine(extent) +
                          " on axis " + Twine(axis));
    shape[axis] = extent;
  }
  return node.result(0, node.elementType(0), shape);
}

/// Crops or zero-pads around the center. An odd difference is rounded so that the smaller part is
/// at the beginning.
LogicalResult convertCenterCropPad(Conversion &node) {
  Padding padding{"constant", {}, {}};
  for (auto [from, to] : llvm::zip(node.shape(0), node.resultShape())) {
    int64_t low = from > to ? -((from - to) / 2) : (to - from) / 2;
    padding.low.push_back(low);
    padding.high.push_back(to - from - low);
  }
  Value x = crop(node.b, node.value(0), padding);
  if (shapeOf(x) == node.resultShape())
    return node.result(0, x);
  Extents interior(node.rank(0), 0);
  return node.result(0, node.b.pad(x, padding.low, padding.high, interior));
}

} // namespace

void addPaddingOperators(Operators &operators) {
  operators.add("Pad", 2, {.infer = inferPad, .evaluate = evaluatePad, .convert = convertPad});
  operators.add("CenterCropPad", 18,
                {.infer = inferCenterCropPad, .convert = convertCenterCropPad});
}

} // namespace mtc::onnx
