//===- PointOffsets.cpp - Element offsets of a kernel's iterations ----------------------------===//

#include "passes/calls/PointOffsets.h"

#include "ir/builders/Shape.h"

using namespace mlir;
using namespace mtc;

static bool isLinear(AffineMap map) {
  bool linear = map.getNumSymbols() == 0;
  map.walkExprs([&](AffineExpr expr) {
    AffineExprKind kind = expr.getKind();
    linear &= kind != AffineExprKind::FloorDiv && kind != AffineExprKind::CeilDiv &&
              kind != AffineExprKind::Mod;
  });
  return linear;
}

std::optional<PointOffsets> mtc::offsetsOf(AffineMap map, ArrayRef<int64_t> shape,
                                           ArrayRef<int64_t> space) {
  if (!isLinear(map))
    return std::nullopt;
  SmallVector<int64_t> strides = rowMajorStrides(shape), point(space.size(), 0);
  auto elementAt = [&](ArrayRef<int64_t> point) {
    int64_t element = 0;
    for (auto [index, stride] : llvm::zip_equal(map.compose(point), strides))
      element += index * stride;
    return element;
  };
  PointOffsets result{elementAt(point), {}};
  for (auto [dim, extent] : llvm::enumerate(space)) {
    point[dim] = 1;
    result.steps.push_back(extent > 1 ? elementAt(point) - result.offset : 0);
    point[dim] = 0;
  }
  return result;
}

std::optional<StridedLayout> mtc::layoutAt(const PointOffsets &other, const PointOffsets &own,
                                           ArrayRef<int64_t> shape, ArrayRef<int64_t> space) {
  StridedLayout layout{other.offset, SmallVector<int64_t>(shape.size(), 0)};
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  // Adjacent elements of an axis are iterations that differ along the dim whose range of steps
  // contains the axis's stride.
  for (auto [axis, extent] : llvm::enumerate(shape))
    for (auto [dim, points] : llvm::enumerate(space)) {
      int64_t step = own.steps[dim], stride = strides[axis];
      if (extent == 1 || points == 1 || stride < step || stride >= step * points)
        continue;
      if (stride % step)
        return std::nullopt;
      layout.strides[axis] = stride / step * other.steps[dim];
    }
  // Dims that traverse an axis with a coarser step must agree with the axis's stride.
  for (auto [axis, extent] : llvm::enumerate(shape))
    for (auto [dim, points] : llvm::enumerate(space)) {
      int64_t step = own.steps[dim], stride = strides[axis];
      if (points == 1 || extent == 1 || step < stride || step >= stride * extent)
        continue;
      if (step % stride || other.steps[dim] != step / stride * layout.strides[axis])
        return std::nullopt;
    }
  return layout;
}
