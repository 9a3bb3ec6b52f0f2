//===- TileRegion.h - Operations that are computed tile by tile together -------------------===//

#ifndef MTC_PASSES_TILING_TILEREGION_H
#define MTC_PASSES_TILING_TILEREGION_H

#include "ir/Mtc.h"

#include "llvm/ADT/MapVector.h"

namespace mtc {

/// Operations of a block around a value, which are computed for one tile after the other, so that
/// of the value, and of others like it, one tile at a time is there. What they read of each other
/// they read in tiles; what others read is assembled, or summed up.
class TileRegion {
public:
  /// The region that computes and reads a value in so many tiles; none where it is read as a
  /// whole, or where what is between its operations is.
  static std::optional<TileRegion> find(mlir::Value value, int64_t count);

  int64_t getCount() const { return count; }
  /// Its operations in the block's order, views aside.
  mlir::ArrayRef<mlir::Operation *> getOperations() const { return operations; }
  const Tiles &getTiles(mlir::Operation *op) const { return ways.at(op); }
  bool contains(mlir::Operation *op) const { return ways.contains(op); }
  /// Operations between its first and its last, in the block's order, that it needs: views and
  /// reads too. They have to run before it.
  mlir::ArrayRef<mlir::Operation *> getNeeded() const { return needed; }
  /// Whether an operation outside reads a result, views aside.
  bool isReadOutside(mlir::Value result) const;

private:
  explicit TileRegion(int64_t count) : count(count) {}

  bool add(mlir::Operation *op);
  bool addAround(mlir::Value value);
  bool agrees(mlir::Operation *op, const Tiles &way) const;
  bool close();
  void grow(int64_t bytes);
  bool mayRunEarly() const;
  bool isAligned() const;

  int64_t count;
  llvm::DenseMap<mlir::Operation *, Tiles> ways;
  mlir::SmallVector<mlir::Operation *> operations, needed;
};

} // namespace mtc

#endif // MTC_PASSES_TILING_TILEREGION_H
