//===- Tiles.h - Operations computed tile by tile ------------------------------------------===//

#ifndef MTC_IR_INTERFACES_TILES_H
#define MTC_IR_INTERFACES_TILES_H

#include "ir/Mtc.h"

namespace mtc {

/// A part of a space or of a tensor's indices.
struct Box {
  mlir::SmallVector<int64_t> offsets, extents;

  /// Whether it has less than the whole along an axis.
  bool cuts(unsigned axis, mlir::ArrayRef<int64_t> shape) const {
    return extents[axis] != shape[axis];
  }
};

/// One of `count` equal runs of a tensor's elements in row-major order; none where the runs are no
/// boxes.
std::optional<Box> findTile(mlir::ArrayRef<int64_t> shape, int64_t count, int64_t index);

/// The type of such a run.
std::optional<mlir::RankedTensorType> tileType(mlir::RankedTensorType whole, int64_t count);

} // namespace mtc

#endif // MTC_IR_INTERFACES_TILES_H
