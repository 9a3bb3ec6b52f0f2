//===- Tiles.h - Tiles of tensors -------------------------------------------------------------===//
//
// A tile is one of `count` equal contiguous chunks of a tensor's elements in row-major order.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_IR_INTERFACES_TILES_H
#define MTC_IR_INTERFACES_TILES_H

#include "ir/Mtc.h"

namespace mtc {

/// A box of an iteration space or of a tensor's indices.
struct Box {
  mlir::SmallVector<int64_t> offsets, extents;

  /// Returns whether the box is smaller than the whole along an axis.
  bool cuts(unsigned axis, mlir::ArrayRef<int64_t> shape) const {
    return extents[axis] != shape[axis];
  }
};

/// Returns the box of tile `index` of `count`, or nullopt if tiles are not boxes.
std::optional<Box> findTile(mlir::ArrayRef<int64_t> shape, int64_t count, int64_t index);

/// Returns the type of a tile, or nullopt if tiles are not boxes.
std::optional<mlir::RankedTensorType> tileType(mlir::RankedTensorType whole, int64_t count);

} // namespace mtc

#endif // MTC_IR_INTERFACES_TILES_H
