//===- Shape.cpp - Arithmetic on extents and axes ---------------------------------------------===//

#include "ir/builders/Shape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mtc;

/// Larger constants are data: folding their movement would only duplicate them.
static constexpr int64_t largestFoldedConstant = 1024;

std::string mtc::toText(ArrayRef<int64_t> values) {
  std::string text = "[";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(values, stream);
  return text + "]";
}

bool mtc::ascendWithin(ArrayRef<int64_t> axes, int64_t rank) {
  int64_t previous = -1;
  for (int64_t axis : axes) {
    if (axis <= previous || axis >= rank)
      return false;
    previous = axis;
  }
  return true;
}

SmallVector<int64_t> mtc::otherAxes(int64_t rank, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> others;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (!llvm::is_contained(axes, axis))
      others.push_back(axis);
  return others;
}

SmallVector<int64_t> mtc::withoutAxes(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  return pick(shape, otherAxes(shape.size(), axes));
}

SmallVector<int64_t> mtc::pick(ArrayRef<int64_t> values, ArrayRef<int64_t> places) {
  return llvm::map_to_vector(places, [&](int64_t place) { return values[place]; });
}

std::optional<int64_t> mtc::countElements(ArrayRef<int64_t> shape) {
  // A tensor with an extent of zero is empty, even if the other extents overflow.
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t extent : shape) {
    std::optional<int64_t> product = llvm::checkedMul(count, extent);
    if (!product)
      return std::nullopt;
    count = *product;
  }
  return count;
}

FusibleShape mtc::shapeOfReduction(ArrayRef<int64_t> space, ArrayRef<int64_t> reduced) {
  FusibleShape shape = FusibleShape::Elementwise;
  for (auto [dim, extent] : llvm::enumerate(space)) {
    if (extent == 1)
      continue;
    if (llvm::is_contained(reduced, static_cast<int64_t>(dim)))
      shape = FusibleShape::RowReduction;
    else if (shape == FusibleShape::RowReduction)
      return FusibleShape::ColumnReduction;
  }
  return shape;
}

SmallVector<int64_t> mtc::rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t axis = static_cast<int64_t>(shape.size()) - 2; axis >= 0; --axis)
    strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}

Attribute mtc::foldSplat(Attribute source, RankedTensorType result) {
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(source))
    return splat.resizeSplat(result);
  return {};
}

Attribute mtc::foldStrided(Attribute source, RankedTensorType result, const StridedLayout &layout) {
  if (Attribute splat = foldSplat(source, result))
    return splat;
  auto elements = dyn_cast_if_present<DenseElementsAttr>(source);
  std::optional<int64_t> count = countElements(result.getShape());
  if (!elements || !count || *count == 0 || *count > largestFoldedConstant ||
      elements.getNumElements() > largestFoldedConstant)
    return {};
  auto values = llvm::to_vector(elements.getValues<Attribute>());
  SmallVector<Attribute> moved;
  SmallVector<int64_t> index(result.getRank(), 0);
  for (int64_t done = 0; done < *count; ++done) {
    int64_t place = layout.offset;
    for (auto [i, stride] : llvm::zip_equal(index, layout.strides))
      place += i * stride;
    moved.push_back(values[place]);
    for (int64_t axis = result.getRank() - 1; axis >= 0; --axis) {
      if (++index[axis] < result.getDimSize(axis))
        break;
      index[axis] = 0;
    }
  }
  return DenseElementsAttr::get(result, moved);
}
