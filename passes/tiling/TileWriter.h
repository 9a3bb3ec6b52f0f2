//===- TileWriter.h - Regions are written tile by tile -------------------------------------===//

#ifndef MTC_PASSES_TILING_TILEWRITER_H
#define MTC_PASSES_TILING_TILEWRITER_H

#include "passes/tiling/TileRegion.h"

#include <functional>

namespace mtc {

/// Changes a block so that regions are computed tile by tile. Each change can be undone, the last
/// first, until it is kept.
class TileWriter {
public:
  /// Tells `listener` of each change.
  explicit TileWriter(mlir::RewriterBase::Listener &listener) : listener(listener) {}
  ~TileWriter() { keep(); }
  TileWriter(const TileWriter &) = delete;
  TileWriter &operator=(const TileWriter &) = delete;

  /// Writes a region in tiles, where its first operation stands. Gives what computes the tiles.
  mlir::SmallVector<mlir::Operation *, 0> write(const TileRegion &region);
  /// Takes back what was written.
  void undo();
  /// Erases for good what was replaced.
  void keep();

private:
  void remove(mlir::Operation *op);
  void moveBefore(mlir::Operation *op, mlir::Operation *place);
  void replace(mlir::Value value, mlir::Value by, const TileRegion &region);

  mlir::RewriterBase::Listener &listener;
  mlir::SmallVector<mlir::Operation *, 0> removed;
  std::vector<std::function<void()>> undoing;
};

} // namespace mtc

#endif // MTC_PASSES_TILING_TILEWRITER_H
