//===- TileWriter.h - Rewrites a region into tiles --------------------------------------------===//

#ifndef MTC_PASSES_TILING_TILEWRITER_H
#define MTC_PASSES_TILING_TILEWRITER_H

#include "passes/tiling/TileRegion.h"

#include <functional>

namespace mtc {

/// Rewrites regions of a block into tiles. Changes can be undone in reverse order until they are
/// committed by `keep`.
class TileWriter {
public:
  /// Notifies `listener` of each change.
  explicit TileWriter(mlir::RewriterBase::Listener &listener) : listener(listener) {}
  ~TileWriter() { keep(); }
  TileWriter(const TileWriter &) = delete;
  TileWriter &operator=(const TileWriter &) = delete;

  /// Emits the tiles of a region at the position of its first operation. Returns the new
  /// operations.
  mlir::SmallVector<mlir::Operation *, 0> write(const TileRegion &region);
  /// Undoes all changes.
  void undo();
  /// Erases the replaced operations permanently.
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
