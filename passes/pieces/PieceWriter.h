//===- PieceWriter.h - Regions are written piece by piece -------------------------------------===//

#ifndef MTC_PASSES_PIECES_PIECEWRITER_H
#define MTC_PASSES_PIECES_PIECEWRITER_H

#include "passes/pieces/PieceRegion.h"

#include <functional>

namespace mtc {

/// Changes a block so that regions are computed piece by piece. Each change can be undone, the last
/// first, until it is kept.
class PieceWriter {
public:
  /// Tells `listener` of each change.
  explicit PieceWriter(mlir::RewriterBase::Listener &listener) : listener(listener) {}
  ~PieceWriter() { keep(); }
  PieceWriter(const PieceWriter &) = delete;
  PieceWriter &operator=(const PieceWriter &) = delete;

  /// Writes a region in pieces, where its first operation stands. Gives what computes the pieces.
  mlir::SmallVector<mlir::Operation *, 0> write(const PieceRegion &region);
  /// Takes back what was written.
  void undo();
  /// Erases for good what was replaced.
  void keep();

private:
  void remove(mlir::Operation *op);
  void moveBefore(mlir::Operation *op, mlir::Operation *place);
  void replace(mlir::Value value, mlir::Value by, const PieceRegion &region);

  mlir::RewriterBase::Listener &listener;
  mlir::SmallVector<mlir::Operation *, 0> removed;
  std::vector<std::function<void()>> undoing;
};

} // namespace mtc

#endif // MTC_PASSES_PIECES_PIECEWRITER_H
