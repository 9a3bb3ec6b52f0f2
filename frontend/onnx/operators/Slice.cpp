//===- Slice.cpp - Slice, Split and Concat ----------------------------------------------------===//

#include "frontend/onnx/operators/Operators.h"
#include "frontend/onnx/operators/support/Conversion.h"
#include "frontend/onnx/operators/support/Evaluate.h"

#include "llvm/ADT/Sequence.h"

#include <cstring>
#include <numeric>

using namespace mlir;

namespace mtc::onnx {
namespace {

//===--- Slice --------------------------------------------------------------------------------===//

/// The first index, step and number of indices along an axis.
struct SliceRange {
  int64_t start = 0, step = 1, count;
};

/// Follows Python's rules: negative bounds count from the end, and bounds are clamped.
SliceRange sliceRange(int64_t start, int64_t end, int64_t step, int64_t extent) {
  auto clamped = [&](int64_t bound) {
    bound = bound < 0 ? bound + extent : bound;
    return step > 0 ? std::clamp<int64_t>(bound, 0, extent)
                    : std::clamp<int64_t>(bound, -1, extent - 1);
  };
  start = clamped(start);
  end = clamped(end);
  int64_t distance = step > 0 ? end - start : start - end;
  // The distance and the step's magnitude may both be 2^63 - 1, so they are not added.
  uint64_t magnitude = step > 0 ? uint64_t(step) : 0 - uint64_t(step);
  int64_t count = distance <= 0 ? 0 : static_cast<int64_t>(uint64_t(distance - 1) / magnitude) + 1;
  return {start, step, count};
}

/// Bounds and axes are attributes before version 10, and steps are 1.
FailureOr<SmallVector<SliceRange>> sliceRanges(NodeView &node) {
  int64_t rank = node.rank(0);
  std::array<std::optional<Extents>, 4> lists; // Starts, ends, axes, steps.
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
    return node.failure("starts or ends are missing");
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

/// mtc.slice requires positive steps: a negative step is converted to an ascending slice that is
/// reversed.
LogicalResult convertSlice(Conversion &node) {
  FailureOr<SmallVector<SliceRange>> ranges = sliceRanges(node);
  if (failed(ranges))
    return failure();
  SmallVector<int64_t> offsets, sizes, strides, reversed;
  for (auto [axis, range] : llvm::enumerate(*ranges)) {
    bool descends = range.step < 0;
    offsets.push_back(descends ? range.start + (range.count - 1) * range.step : range.start);
    sizes.push_back(range.count);
    strides.push_back(range.count == 1 ? 1 : descends ? -range.step : range.step);
    if (descends && range.count > 1)
      reversed.push_back(axis);
  }
  Value y = node.b.slice(node.value(0), offsets, sizes, strides);
  return node.result(0, reversed.empty() ? y : node.b.reverse(y, reversed));
}

//===--- Split --------------------------------------------------------------------------------===//

/// The axis that is split, and the extents of the parts along it.
struct Parts {
  int64_t axis;
  Extents extents;
};

/// Reads the extents from an attribute (before version 13) or operand 1. By default they are equal;
/// from version 18 on, the last ones may be smaller.
FailureOr<Parts> readParts(NodeView &node) {
  int64_t axis = node.axis("axis", 0, node.rank(0));
  auto given = node.intsOperandOrAttribute(1, "split");
  if (failed(given) || node.failed())
    return failure();
  int64_t extent = node.dim(0, axis), count = node.resultCount();
  if (*given) {
    if (static_cast<int64_t>((*given)->size()) != count)
      return node.failure("splits into " + Twine((*given)->size()) + " parts, but has " +
                          Twine(count) + " results");
    auto fits = [&](int64_t part) { return part >= 0 && part <= extent; };
    if (!llvm::all_of(**given, fits) ||
        std::accumulate((*given)->begin(), (*given)->end(), int64_t(0)) != extent)
      return node.failure("splits axis " + Twine(axis) + " of extent " + Twine(extent) + " into " +
                          shapeText(**given));
    return Parts{axis, **given};
  }
  if (int64_t said = node.version() >= 18 ? node.integer("num_outputs", count) : count;
      said != count)
    return node.failure("attribute num_outputs = " + Twine(said) + ", but the node has " +
                        Twine(count) + " results");
  if (node.version() < 18 && extent % count != 0)
    return node.failure("splits axis " + Twine(axis) + " of extent " + Twine(extent) + " into " +
                        Twine(count) + " equal parts");
  int64_t part = ceilDivide(extent, count);
  Parts parts{axis, {}};
  for (int64_t i = 0; i < count; ++i)
    parts.extents.push_back(std::clamp<int64_t>(extent - i * part, 0, part));
  return parts;
}

LogicalResult inferSplit(Inference &node) {
  FailureOr<Parts> parts = readParts(node);
  if (failed(parts))
    return failure();
  Extents shape(node.shape(0));
  for (auto [i, extent] : llvm::enumerate(parts->extents)) {
    shape[parts->axis] = extent;
    if (failed(node.result(i, node.elementType(0), shape)))
      return failure();
  }
  return success();
}

void evaluateSplit(Inference &node) {
  Parts parts = *readParts(node);
  Extents strides = rowMajorStrides(node.shape(0));
  int64_t offset = 0;
  for (auto [i, extent] : llvm::enumerate(parts.extents)) {
    if (node.wants(i))
      node.fold(i, stridedCopy(node.tensor(0), node.resultType(i), offset, strides));
    offset += extent * strides[parts.axis];
  }
}

LogicalResult convertSplit(Conversion &node) {
  FailureOr<Parts> parts = readParts(node);
  if (failed(parts))
    return failure();
  SmallVector<int64_t> offsets(node.rank(0), 0), sizes(node.shape(0)), strides(node.rank(0), 1);
  for (auto [i, extent] : llvm::enumerate(parts->extents)) {
    sizes[parts->axis] = extent;
    if (node.wants(i) &&
        failed(node.result(i, node.b.slice(node.value(0), offsets, sizes, strides))))
      return failure();
    offsets[parts->axis] += extent;
  }
  return success();
}

//===--- Concat -------------------------------------------------------------------------------===//

int64_t concatenatedAxis(NodeView &node) { return node.axis("axis", std::nullopt, node.rank(0)); }

LogicalResult inferConcat(Inference &node) {
  int64_t axis = concatenatedAxis(node);
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
                          ", which does not match " + shapeText(shape) + " along axis " +
                          Twine(axis));
    if (llvm::AddOverflow(shape[axis], other[axis], shape[axis]))
      return node.failure("has more elements than memory can hold");
  }
  return node.result(0, node.elementType(0), shape);
}

void evaluateConcat(Inference &node) {
  int64_t axis = concatenatedAxis(node);
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

/// Operands without elements (such as an empty key cache) are omitted.
LogicalResult convertConcat(Conversion &node) {
  int64_t axis = concatenatedAxis(node);
  if (node.failed())
    return failure();
  SmallVector<Value> inputs;
  for (size_t i = 0; i < node.operandCount(); ++i)
    if (node.type(i).getNumElements() != 0)
      inputs.push_back(node.value(i));
  return node.result(0, node.b.concatenate(inputs, axis));
}

} // namespace

void addSliceOperators(Operators &operators) {
  operators.add("Slice", 1,
                {.infer = inferSlice, .evaluate = evaluateSlice, .convert = convertSlice});
  operators.add("Split", 2,
                {.infer = inferSplit, .evaluate = evaluateSplit, .convert = convertSplit});
  operators.add("Concat", 4,
                {.infer = inferConcat, .evaluate = evaluateConcat, .convert = convertConcat});
}

} // namespace mtc::onnx
