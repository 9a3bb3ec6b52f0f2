//===- IterationOffsets.cpp - Element offsets of a kernel's iterations ------------------------===//

#include "passes/calls/IterationOffsets.h"

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

std::optional<IterationOffsets> mtc::offsetsOf(AffineMap map, ArrayRef<int64_t> shape,
                                               ArrayRef<int64_t> space) {
  if (!isLinear(map))
    return std::nullopt;
  SmallVector<int64_t> strides = rowMajorStrides(shape), iteration(space.size(), 0);
  auto elementAt = [&](ArrayRef<int64_t> iteration) {
    int64_t element = 0;
    for (auto [index, stride] : llvm::zip_equal(map.compose(iteration), strides))
      element += index * stride;
    return element;
  };
  IterationOffsets result{elementAt(iteration), {}};
  for (auto [dim, extent] : llvm::enumerate(space)) {
    iteration[dim] = 1;
    result.steps.push_back(extent > 1 ? elementAt(iteration) - result.offset : 0);
    iteration[dim] = 0;
  }
  return result;
}

std::optional<StridedLayout> mtc::layoutAt(const IterationOffsets &other,
                                           const IterationOffsets &own, ArrayRef<int64_t> shape,
                                           ArrayRef<int64_t> space) {
  StridedLayout layout{other.offset, SmallVector<int64_t>(shape.size(), 0)};
  SmallVector<int64_t> strides = rowMajorStrides(shape);
  // Adjacent elements of an axis are iterations that differ along the dim whose range of steps
  // contains the axis's stride.
  for (auto [axis, extent] : llvm::enumerate(shape))
    for (auto [dim, iterations] : llvm::enumerate(space)) {
      int64_t step = own.steps[dim], stride = strides[axis];
      if (extent == 1 || iterations == 1 || stride < step || stride >= step * iterations)
        continue;
      if (stride % step)
        return std::nullopt;
      layout.strides[axis] = stride / step * other.steps[dim];
    }
  // Dims that traverse an axis with a coarser step must agree with the axis's stride.
  for (auto [axis, extent] : llvm::enumerate(shape))
    for (auto [dim, iterations] : llvm::enumerate(space)) {
      int64_t step = own.steps[dim], stride = strides[axis];
      if (iterations == 1 || extent == 1 || step < stride || step >= stride * extent)
        continue;
      if (step % stride || other.steps[dim] != step / stride * layout.strides[axis])
        return std::nullopt;
    }
  return layout;
}
