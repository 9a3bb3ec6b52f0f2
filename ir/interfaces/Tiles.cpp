//===- Tiles.cpp - Tiles of tensors -----------------------------------------------------------===//

#include "ir/interfaces/Tiles.h"

#include "ir/builders/Shape.h"

using namespace mlir;
using namespace mtc;

std::optional<Box> mtc::findTile(ArrayRef<int64_t> shape, int64_t count, int64_t index) {
  Box box{SmallVector<int64_t>(shape.size(), 0), llvm::to_vector(shape)};
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    if (count == 1)
      break;
    // Either a tile spans several indices of the axis, or an index of the axis has several tiles.
    if (extent % count == 0) {
      box.extents[axis] = extent / count;
      box.offsets[axis] = index * box.extents[axis];
      return box;
    }
    if (extent == 0 || count % extent != 0)
      return std::nullopt;
    count /= extent;
    box.extents[axis] = 1;
    box.offsets[axis] = index / count;
    index %= count;
  }
  return count == 1 ? std::optional(box) : std::nullopt;
}

std::optional<RankedTensorType> mtc::tileType(RankedTensorType whole, int64_t count) {
  std::optional<Box> box = findTile(whole.getShape(), count, 0);
  if (!box)
    return std::nullopt;
  return RankedTensorType::get(box->extents, whole.getElementType());
}
