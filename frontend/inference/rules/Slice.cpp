//===- Slice.cpp - Slice, Split, Concat, Pad, Tile, Trilu -------------------------------------===//

#include "frontend/inference/Evaluate.h"
#include "frontend/inference/Registry.h"
#include "frontend/inference/rules/Rules.h"

#include "llvm/ADT/Sequence.h"

#include <cstring>
#include <numeric>

using namespace mlir;

namespace mtc::onnx {
namespace {

//===--- Slice --------------------------------------------------------------------------------===//

/// Along each axis of the operand: first index, step, number of indices.
struct SliceRange {
  int64_t start = 0, step = 1, count;
};

/// Python's rules: negative bounds count from the end, bounds are clamped to where indices exist.
SliceRange sliceRange(int64_t start, int64_t end, int64_t step, int64_t extent) {
  auto clamped = [&](int64_t bound) {
    bound = bound < 0 ? bound + extent : bound;
    return step > 0 ? std::clamp<int64_t>(bound, 0, extent)
                    : std::clamp<int64_t>(bound, -1, extent - 1);
  };
  start = clamped(start);
  end = clamped(end);
  int64_t distance = step > 0 ? end - start : start - end;
  // The distance is at most 2^63 - 1, and so may be the step's magnitude: no sum of both.
  uint64_t magnitude = step > 0 ? uint64_t(step) : 0 - uint64_t(step);
  int64_t count = distance <= 0 ? 0 : static_cast<int64_t>(uint64_t(distance - 1) / magnitude) + 1;
  return {start, step, count};
}

/// Reads bounds, axes and steps.
FailureOr<SmallVector<SliceRange>> sliceRanges(Inference &node) {
  int64_t rank = node.rank(0);
  std::array<std::optional<Extents>, 4> lists; // starts, ends, axes, steps
  for (size_t i = 0; i < 4; ++i) {
    if (node.version() < 10 && i < 3) {
      static constexpr StringRef names[] = {"starts", "ends", "axes"};
      lists[i] = node.integersOr(names[i]);
    } else if (node.has(i + 1)) {
      lists[i] = node.constantInts(i + 1);
      if (!lists[i])
        return node.needsConstant(i + 1);
    }
  }
  if (node.failed())
    return failure();
  if (!lists[0] || !lists[1])
    return node.failure("has no starts or no ends");
  Extents starts = *lists[0], ends = *lists[1];
  Extents axes = lists[2].value_or(llvm::to_vector(llvm::seq<int64_t>(0, starts.size())));
  Extents steps = lists[3].value_or(Extents(starts.size(), 1));
  if (starts.size() != ends.size() || starts.size() != axes.size() || starts.size() != steps.size())
    return node.failure("has " + Twine(starts.size()) + " starts, " + Twine(ends.size()) +
                        " ends, " + Twine(axes.size()) + " axes and " + Twine(steps.size()) +
                        " steps, expected equal numbers");
  axes = node.normalizedAxes(axes, rank, "axes");
  if (node.failed())
    return failure();
  SmallVector<SliceRange> ranges;
  for (int64_t extent : node.shape(0))
    ranges.push_back({0, 1, extent});
  for (size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0)
      return node.failure("has a step of 0 along axis " + Twine(axes[i]));
    ranges[axes[i]] = sliceRange(starts[i], ends[i], steps[i], node.dim(0, axes[i]));
  }
  return ranges;
}

LogicalResult inferSlice(Inference &node) {
  FailureOr<SmallVector<SliceRange>> ranges = sliceRanges(node);
  if (failed(ranges))
    return failure();
  Extents shape;
  for (const SliceRange &range : *ranges)
    shape.push_back(range.count);
  return node.result(0, node.elementType(0), shape);
}

void evaluateSlice(Inference &node) {
  Extents strides = rowMajorStrides(node.shape(0));
  int64_t offset = 0;
  if (node.resultType().getNumElements() == 0)
    return node.fold(0, Tensor::allocate(node.resultType()));
  for (auto [stride, range] : llvm::zip(strides, *sliceRanges(node))) {
    offset += range.start * stride;
    stride = range.count > 1 ? stride * range.step : 0;
  }
  node.fold(0, stridedCopy(node.tensor(0), node.resultType(), offset, strides));
}

//===--- Split --------------------------------------------------------------------------------===//

/// The extents of the parts: given by an attribute (before version 13) or operand 1; equal
/// otherwise, the last one smaller from version 18 on.
FailureOr<Extents> splitParts(Inference &node, int64_t axis) {
  int64_t extent = node.dim(0, axis), count = node.resultCount();
  auto given = node.intsOperandOrAttribute(1, "split");
  if (failed(given))
    return failure();
  if (*given) {
    if (static_cast<int64_t>((*given)->size()) != count)
      return node.failure("splits into " + Twine((*given)->size()) + " parts, but has " +
                          Twine(count) + " results");
    auto fits = [&](int64_t part) { return part >= 0 && part <= extent; };
    if (!llvm::all_of(**given, fits) ||
        std::accumulate((*given)->begin(), (*given)->end(), int64_t(0)) != extent)
      return node.failure("splits axis " + Twine(axis) + " of extent " + Twine(extent) + " into " +
                          shapeText(**given));
    return **given;
  }
  if (node.version() >= 18 && node.integer("num_outputs", count) != count)
    return node.failure("attribute num_outputs = " + Twine(node.integer("num_outputs", count)) +
                        ", but the node has " + Twine(count) + " results");
  if (node.version() < 18 && extent % count != 0)
    return node.failure("splits axis " + Twine(axis) + " of extent " + Twine(extent) + " into " +
                        Twine(count) + " equal parts");
  int64_t part = ceilDivide(extent, count);
  Extents parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(std::clamp<int64_t>(extent - i * part, 0, part));
  return parts;
}

LogicalResult inferSplit(Inference &node) {
  int64_t axis = node.axis("axis", 0, node.rank(0));
  if (node.failed())
    return failure();
  FailureOr<Extents> parts = splitParts(node, axis);
  if (failed(parts))
    return failure();
  Extents shape(node.shape(0));
  for (auto [i, part] : llvm::enumerate(*parts)) {
    shape[axis] = part;
    if (failed(node.result(i, node.elementType(0), shape)))
      return failure();
  }
  return success();
}

void evaluateSplit(Inference &node) {
  int64_t axis = node.axis("axis", 0, node.rank(0));
  Extents strides = rowMajorStrides(node.shape(0));
  int64_t offset = 0;
  for (auto [i, part] : llvm::enumerate(*splitParts(node, axis))) {
    if (node.wants(i))
      node.fold(i, stridedCopy(node.tensor(0), node.resultType(i), offset, strides));
    offset += part * strides[axis];
  }
}

//===--- Concat -------------------------------------------------------------------------------===//

LogicalResult inferConcat(Inference &node) {
  int64_t axis = node.axis("axis", std::nullopt, node.rank(0));
  if (node.failed())
    return failure();
  Extents shape(node.shape(0));
  for (size_t i = 1; i < node.operandCount(); ++i) {
    if (!node.sameElementType(0, i))
      return failure();
    Extents other(node.shape(i));
    bool matches = other.size() == shape.size();
    for (size_t d = 0; matches && d < shape.size(); ++d)
      matches = static_cast<int64_t>(d) == axis || other[d] == shape[d];
    if (!matches)
      return node.failure(Twine(node.operandName(i)) + " has shape " + shapeText(other) +
                          ", which does not continue " + shapeText(shape) + " along axis " +
                          Twine(axis));
    if (llvm::AddOverflow(shape[axis], other[axis], shape[axis]))
      return node.failure("has more elements than memory can hold");
  }
  return node.result(0, node.elementType(0), shape);
}

void evaluateConcat(Inference &node) {
  int64_t axis = node.axis("axis", std::nullopt, node.rank(0));
  std::optional<Tensor> result = Tensor::allocate(node.resultType());
  if (!result)
    return;
  size_t width = result->elementSize();
  int64_t outer = elementCount(node.resultShape().take_front(axis));
  int64_t row = elementCount(node.resultShape().drop_front(axis)) * width, offset = 0;
  char *out = result->mutableBytes().data();
  for (size_t i = 0; i < node.operandCount(); ++i) {
    Tensor part = node.tensor(i);
    int64_t length = elementCount(part.shape().drop_front(axis)) * width;
    for (int64_t r = 0; r < outer; ++r) {
      char *to = out + r * row + offset;
      if (!part.isSplat())
        std::memcpy(to, part.bytes().data() + r * length, length);
      else
        for (int64_t at = 0; at < length; at += width)
          std::memcpy(to + at, part.bytes().data(), width);
    }
    offset += length;
  }
  node.fold(0, result);
}

//===--- Pad ----------------------------------------------------------------------------------===//

/// Padding before each axis, then after each axis.
FailureOr<Extents> padding(Inference &node) {
  int64_t rank = node.rank(0);
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
  Extents result(2 * rank, 0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    result[axis] = (*pads)[i];
    result[rank + axis] = (*pads)[axes.size() + i];
  }
  return result;
}

LogicalResult inferPad(Inference &node) {
  StringRef mode = node.choice("mode", "constant", {"constant", "reflect", "edge", "wrap"});
  if (node.version() < 11)
    node.floating("value", 0);
  FailureOr<Extents> pads = padding(node);
  if (failed(pads) || !node.hasOneElement(2))
    return failure();
  Extents shape;
  int64_t rank = node.rank(0);
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t before = (*pads)[axis], after = (*pads)[rank + axis], extent = node.dim(0, axis);
    if (mode == "reflect" && (before >= extent || after >= extent) && (before > 0 || after > 0))
      return node.failure("reflects " + Twine(std::max(before, after)) + " elements of axis " +
                          Twine(axis) + ", which has " + Twine(extent));
    if ((mode == "edge" || mode == "wrap") && extent == 0 && (before > 0 || after > 0))
      return node.failure("repeats elements of axis " + Twine(axis) + ", which has none");
    int64_t &padded = shape.emplace_back();
    if (llvm::AddOverflow(extent, before, padded) || llvm::AddOverflow(padded, after, padded))
      return node.failure("pads axis " + Twine(axis) + " by more than can be addressed");
  }
  return node.result(0, node.elementType(0), shape);
}

/// The index that padded position `i` of an axis reads; -1 for the constant.
int64_t paddedIndex(int64_t i, int64_t extent, StringRef mode) {
  if (i >= 0 && i < extent)
    return i;
  if (mode == "constant")
    return -1;
  if (mode == "edge")
    return i < 0 ? 0 : extent - 1;
  if (mode == "wrap")
    return ((i % extent) + extent) % extent;
  return i < 0 ? -i : 2 * (extent - 1) - i;
}

void evaluatePad(Inference &node) {
  Extents pads = *padding(node);
  StringRef mode = node.string("mode", "constant");
  auto scalar = RankedTensorType::get({}, node.elementType(0));
  Tensor fill = node.has(2) ? node.tensor(2)
                            : *Tensor::fromValues<double>(
                                  scalar, node.version() < 11 ? node.floating("value", 0) : 0.0);
  Extents strides = rowMajorStrides(node.shape(0)), result = rowMajorStrides(node.resultShape());
  node.fold(0, indexedCopy(
                   node.tensor(0), node.resultType(),
                   [&](int64_t linear) {
                     int64_t from = 0;
                     for (int64_t axis = 0; axis < node.rank(0); ++axis) {
                       int64_t i = linear / result[axis] - pads[axis];
                       linear %= result[axis];
                       int64_t index = paddedIndex(i, node.dim(0, axis), mode);
                       if (index < 0)
                         return int64_t(-1);
                       from += index * strides[axis];
                     }
                     return from;
                   },
                   &fill));
}

//===--- Tile, Trilu --------------------------------------------------------------------------===//

LogicalResult inferTile(Inference &node) {
  std::optional<Extents> repeats = node.constantInts(1);
  if (!repeats)
    return node.needsConstant(1);
  if (static_cast<int64_t>(repeats->size()) != node.rank(0))
    return node.failure("has " + Twine(repeats->size()) + " repeats, expected " +
                        Twine(node.rank(0)));
  Extents shape;
  for (auto [extent, repeat] : llvm::zip(node.shape(0), *repeats))
    if (repeat < 0 || llvm::MulOverflow(extent, repeat, shape.emplace_back()))
      return node.failure("repeats " + shapeText(*repeats) + " of shape " +
                          shapeText(node.shape(0)) + " cannot be");
  return node.result(0, node.elementType(0), shape);
}

void evaluateTile(Inference &node) {
  Extents strides = rowMajorStrides(node.shape(0)), result = rowMajorStrides(node.resultShape());
  node.fold(0, indexedCopy(node.tensor(0), node.resultType(), [&](int64_t linear) {
              int64_t from = 0;
              for (int64_t axis = 0; axis < node.rank(0); ++axis) {
                from += linear / result[axis] % node.dim(0, axis) * strides[axis];
                linear %= result[axis];
              }
              return from;
            }));
}

LogicalResult inferTrilu(Inference &node) {
  node.flag("upper", true);
  if (!node.hasRank(0, 2) || !node.hasOneElement(1))
    return failure();
  return node.result(0, node.type(0));
}

/// Keeps elements on and above the k-th diagonal, or on and below it.
void evaluateTrilu(Inference &node) {
  bool upper = node.flag("upper", true);
  int64_t k = node.has(1) ? node.tensor(1).value<int64_t>() : 0;
  int64_t columns = node.shape(0).back(), rows = node.shape(0).drop_back().back();
  Tensor zero =
      *Tensor::fromValues<int64_t>(RankedTensorType::get({}, node.elementType(0)), int64_t(0));
  node.fold(0, indexedCopy(
                   node.tensor(0), node.resultType(),
                   [&](int64_t linear) {
                     int64_t diagonal = linear % columns - linear / columns % rows;
                     return (upper ? diagonal >= k : diagonal <= k) ? linear : -1;
                   },
                   &zero));
}

} // namespace

void registerSliceRules(Registry &registry) {
  registry.add("Slice", 1, inferSlice, evaluateSlice);
  registry.add("Split", 2, inferSplit, evaluateSplit);
  registry.add("Concat", 4, inferConcat, evaluateConcat);
  registry.add("Pad", 2, inferPad, evaluatePad);
  registry.add("Tile", 6, inferTile, evaluateTile);
  registry.add("Trilu", 14, inferTrilu, evaluateTrilu);
}

} // namespace mtc::onnx
