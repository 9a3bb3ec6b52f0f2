//===- Resize.cpp - Interpolation: types only -------------------------------------------------===//

#include "frontend/dialect/Shapes.h"
#include "frontend/operators/Inference.h"
#include "frontend/operators/Operators.h"

#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// ⌊extent · scale⌋ on each axis.
LogicalResult scaledResult(Inference &node, ArrayRef<int64_t> axes, ArrayRef<double> scales) {
  if (scales.size() != axes.size())
    return node.failure("has " + Twine(scales.size()) + " scales, expected " + Twine(axes.size()));
  Extents shape(node.shape(0));
  for (auto [axis, scale] : llvm::zip(axes, scales)) {
    // Scales are f32: the product is rounded as the standard's reference does it.
    double extent = std::floor(static_cast<double>(shape[axis]) * scale);
    if (!(scale > 0) || !(extent < 9e15))
      return node.failure("has a scale of " + std::to_string(scale) + " on axis " + Twine(axis) +
                          ", expected a positive number");
    shape[axis] = static_cast<int64_t>(extent);
  }
  return node.result(0, node.elementType(0), shape);
}

/// Extents as given; with a policy the same scale, the smallest or the largest, on all axes,
/// rounded to nearest.
LogicalResult sizedResult(Inference &node, ArrayRef<int64_t> axes, ArrayRef<int64_t> sizes,
                          StringRef policy) {
  if (sizes.size() != axes.size())
    return node.failure("has " + Twine(sizes.size()) + " sizes, expected " + Twine(axes.size()));
  Extents shape(node.shape(0));
  std::optional<double> scale;
  for (auto [axis, size] : llvm::zip(axes, sizes)) {
    if (policy != "stretch" && (shape[axis] == 0 || size < 0))
      return node.failure("keeps the aspect ratio of axis " + Twine(axis) + " of extent " +
                          Twine(shape[axis]) + " at size " + Twine(size));
    double own = static_cast<double>(size) / static_cast<double>(shape[axis]);
    if (!scale)
      scale = own;
    else
      scale = policy == "not_larger" ? std::min(*scale, own) : std::max(*scale, own);
  }
  for (auto [axis, size] : llvm::zip(axes, sizes))
    shape[axis] =
        policy == "stretch"
            ? size
            : static_cast<int64_t>(std::floor(*scale * static_cast<double>(shape[axis]) + 0.5));
  return node.result(0, node.elementType(0), shape);
}

/// Exactly one of scales and sizes is there and not empty.
LogicalResult inferResize(Inference &node) {
  size_t scalesAt = node.version() < 11 ? 1 : 2;
  node.choice("mode", "nearest", {"nearest", "linear", "cubic"});
  StringRef policy =
      node.choice("keep_aspect_ratio_policy", "stretch", {"stretch", "not_larger", "not_smaller"});
  Extents axes = node.axes("axes", node.rank(0))
                     .value_or(llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0))));
  if (node.failed())
    return failure();
  bool hasScales = node.has(scalesAt) && node.type(scalesAt).getNumElements() != 0;
  bool hasSizes = node.has(3) && node.type(3).getNumElements() != 0;
  if (hasScales == hasSizes)
    return node.failure(hasScales ? "has scales and sizes, expected one of them"
                                  : "has neither scales nor sizes");
  if (hasSizes) {
    std::optional<Extents> sizes = node.constantInts(3);
    return sizes ? sizedResult(node, axes, *sizes, policy) : node.needsConstant(3);
  }
  std::optional<SmallVector<double>> scales = node.constantFloats(scalesAt);
  return scales ? scaledResult(node, axes, *scales) : node.needsConstant(scalesAt);
}

/// Resize's predecessor; scales are an attribute before version 9.
LogicalResult inferUpsample(Inference &node) {
  Extents axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  if (node.version() < 9)
    return scaledResult(node, axes, node.floats("scales", {}));
  std::optional<SmallVector<double>> scales = node.constantFloats(1);
  return scales ? scaledResult(node, axes, *scales) : node.needsConstant(1);
}

/// X [N, C, …], grid [N, output…, spatial rank].
LogicalResult inferGridSample(Inference &node) {
  if (!node.hasRank(0, 3) || !node.hasRank(1, node.rank(0), node.rank(0)))
    return failure();
  if (node.dim(1, 0) != node.dim(0, 0) || node.shape(1).back() != node.rank(0) - 2)
    return node.failure(Twine(node.operandName(1)) + " has shape " + shapeText(node.shape(1)) +
                        ", expected " + Twine(node.dim(0, 0)) + " first and " +
                        Twine(node.rank(0) - 2) + " last");
  Extents shape(node.shape(0).take_front(2));
  llvm::append_range(shape, node.shape(1).drop_front().drop_back());
  return node.result(0, node.elementType(0), shape);
}

} // namespace

void registerResizeOperators(Operators &operators) {
  operators.add("Resize", 10, {.infer = inferResize});
  operators.add("Upsample", 7, {.infer = inferUpsample});
  operators.add("GridSample", 16, {.infer = inferGridSample});
}

} // namespace mtc::onnx
