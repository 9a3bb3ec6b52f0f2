//===- TileRegion.h - Operations that are tiled together --------------------------------------===//

#ifndef MTC_PASSES_TILING_TILEREGION_H
#define MTC_PASSES_TILING_TILEREGION_H

#include "ir/Mtc.h"
#include "passes/memory/MicroStepSplit.h"

#include "llvm/ADT/MapVector.h"

namespace mtc {

/// Operations of a block around a value that are computed for one tile after another, so that only
/// one tile of the value, and of similar values, is live at a time. Operations of the region use
/// each other's results in tiles. Results used outside of the region are assembled or summed.
class TileRegion {
public:
  /// Returns the region that computes and uses a value in `count` tiles, or nothing if some
  /// operation of the region needs the value, or a value between the region's operations, as a
  /// whole. All operations are in one part of a micro-step that will be split.
  static std::optional<TileRegion> find(mlir::Value value, int64_t count,
                                        const MicroStepSplit *split);

  int64_t getCount() const { return count; }
  /// Returns the operations in block order, without views.
  mlir::ArrayRef<mlir::Operation *> getOperations() const { return operations; }
  const Tiles &getTiles(mlir::Operation *op) const { return tilings.at(op); }
  bool contains(mlir::Operation *op) const { return tilings.contains(op); }
  /// Returns the operations between the first and the last operation of the region on which the
  /// region depends, in block order, including views and reads. They must run before the region.
  mlir::ArrayRef<mlir::Operation *> getNeeded() const { return needed; }
  /// Returns whether an operation outside of the region, other than a view, uses a result.
  bool isReadOutside(mlir::Value result) const;

private:
  TileRegion(int64_t count, const MicroStepSplit *split) : count(count), split(split) {}

  bool add(mlir::Operation *op);
  bool addAround(mlir::Value value);
  bool agrees(mlir::Operation *op, const Tiles &tiling) const;
  bool close();
  void grow(int64_t bytes);
  bool mayRunEarly() const;
  bool isAligned() const;

  int64_t count;
  const MicroStepSplit *split; ///< null for other functions
  llvm::DenseMap<mlir::Operation *, Tiles> tilings;
  mlir::SmallVector<mlir::Operation *> operations, needed;
};

} // namespace mtc

#endif // MTC_PASSES_TILING_TILEREGION_H
