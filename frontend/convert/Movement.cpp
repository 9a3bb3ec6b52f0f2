//===- Movement.cpp - Operators that permute, cut and join tensors ----------------------------===//

#include "frontend/convert/Converters.h"

#include <numeric>

using namespace mlir;

namespace mtc::onnx {
namespace {

LogicalResult convertTranspose(Conversion &node) {
  int64_t rank = node.rank(0);
  SmallVector<int64_t> reversed(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  SmallVector<int64_t> permutation = node.axes("perm", rank).value_or(reversed);
  if (node.failed())
    return failure();
  return node.result(0, node.b.transpose(node.value(0), permutation));
}

/// Operands without elements (an empty cache of keys, say) are left out.
LogicalResult convertConcat(Conversion &node) {
  int64_t axis = node.axis("axis", node.version() < 4 ? std::optional<int64_t>(1) : std::nullopt,
                           node.resultType().getRank());
  if (node.failed())
    return failure();
  SmallVector<Value> inputs;
  for (size_t i = 0; i < node.operandCount(); ++i)
    if (node.type(i).getNumElements() != 0)
      inputs.push_back(node.value(i));
  return node.result(0, node.b.concatenate(inputs, axis));
}

/// The extents of the parts: given (attribute before version 13, operand since), or as equal as can
/// be.
FailureOr<SmallVector<int64_t>> splitExtents(Conversion &node, int64_t axis) {
  auto given = node.intsOperandOrAttribute(1, "split");
  if (failed(given))
    return failure();
  if (*given)
    return **given;
  auto count = static_cast<int64_t>(node.resultCount());
  int64_t extent = node.dim(0, axis), part = llvm::divideCeil(extent, count);
  SmallVector<int64_t> extents(count, part);
  extents.back() = extent - part * (count - 1);
  return extents;
}

LogicalResult convertSplit(Conversion &node) {
  int64_t axis = node.axis("axis", 0, node.rank(0));
  FailureOr<SmallVector<int64_t>> extents = splitExtents(node, axis);
  if (failed(extents) || node.failed())
    return failure();
  SmallVector<int64_t> offsets(node.rank(0), 0), sizes(node.shape(0)), strides(node.rank(0), 1);
  for (auto [i, extent] : llvm::enumerate(*extents)) {
    sizes[axis] = extent;
    if (node.wants(i) &&
        failed(node.result(i, node.b.slice(node.value(0), offsets, sizes, strides))))
      return failure();
    offsets[axis] += extent;
  }
  return success();
}

/// Where a slice reads along one axis: ascending from `offset`; with a negative step the result is
/// reversed.
struct AxisSlice {
  /// ONNX's rule: negative bounds count from the end, then are clamped to the axis.
  static AxisSlice of(int64_t start, int64_t step, int64_t extent, int64_t size) {
    if (start < 0)
      start += extent;
    start = std::clamp<int64_t>(start, 0, step < 0 ? extent - 1 : extent);
    return step < 0 ? AxisSlice{start + (size - 1) * step, -step, true}
                    : AxisSlice{start, step, false};
  }
  int64_t offset, stride;
  bool reversed;
};

/// Before version 10 starts, ends and axes are attributes and steps are 1. The result's extents
/// tell the ends.
LogicalResult convertSlice(Conversion &node) {
  auto starts = node.intsOperandOrAttribute(1, "starts");
  auto axes = node.intsOperandOrAttribute(3, "axes");
  auto steps = node.intsOperandOrAttribute(4, "steps");
  if (failed(starts) || failed(axes) || failed(steps))
    return failure();
  if (!*starts)
    return node.failure("starts are missing");
  SmallVector<int64_t> sliced = *axes ? node.normalizedAxes(**axes, node.rank(0), "axes")
                                      : llvm::to_vector(llvm::seq<int64_t>(0, (*starts)->size()));
  if (node.failed())
    return failure();
  ArrayRef<int64_t> sizes = node.resultShape();
  SmallVector<int64_t> offsets(node.rank(0), 0), strides(node.rank(0), 1), reversed;
  for (auto [i, axis] : llvm::enumerate(sliced)) {
    int64_t step = *steps ? (**steps)[i] : 1;
    auto part = AxisSlice::of((**starts)[i], step, node.dim(0, axis), sizes[axis]);
    offsets[axis] = part.offset;
    strides[axis] = sizes[axis] == 1 ? 1 : part.stride;
    if (part.reversed && sizes[axis] > 1)
      reversed.push_back(axis);
  }
  llvm::sort(reversed);
  Value y = node.b.slice(node.value(0), offsets, sizes, strides);
  return node.result(0, reversed.empty() ? y : node.b.reverse(y, reversed));
}

} // namespace

void registerMovementConverters(Converters &converters) {
  converters.add("Transpose", 1, convertTranspose);
  converters.add("Concat", 1, convertConcat);
  converters.add("Split", 2, convertSplit);
  converters.add("Slice", 1, convertSlice);
}

} // namespace mtc::onnx
