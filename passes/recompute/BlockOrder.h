//===- BlockOrder.h - Which of two operations of a block comes first --------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_BLOCKORDER_H
#define MTC_PASSES_RECOMPUTE_BLOCKORDER_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace mtc {

/// The order of a block's operations while many are put in and taken out again. MLIR's own has room
/// for a few between two, and is numbered anew for the whole block when it is asked behind more.
class BlockOrder {
public:
  explicit BlockOrder(mlir::Block &block) : block(block) { number(); }

  bool isBefore(mlir::Operation *first, mlir::Operation *second) const {
    return numbers.at(first) < numbers.at(second);
  }
  /// Puts an operation, of this block or of none, in front of another one.
  void put(mlir::Operation *op, mlir::Operation *next) {
    if (op->getBlock())
      op->remove();
    block.getOperations().insert(next->getIterator(), op);
    mlir::Operation *previous = op->getPrevNode();
    const int64_t low = previous ? numbers.at(previous) : numbers.at(next) - 2 * stride;
    // Most come one after another in front of the same one: nearly all room is left there.
    const int64_t between = low + (numbers.at(next) - low) / 32;
    numbers[op] = between;
    if (between == low)
      number();
  }
  /// Where an operation stands, to put it there again after others were taken out.
  struct Place {
    mlir::Operation *next;
    int64_t number;
    size_t numbering;
  };
  Place placeOf(mlir::Operation *op) const {
    return {op->getNextNode(), numbers.at(op), numbering};
  }
  void putBack(mlir::Operation *op, const Place &place) {
    if (place.numbering != numbering)
      return put(op, place.next);
    op->moveBefore(place.next);
    numbers[op] = place.number;
  }
  void erase(mlir::Operation *op) {
    numbers.erase(op);
    op->erase();
  }

private:
  void number() {
    ++numbering;
    int64_t next = 0;
    for (mlir::Operation &op : block)
      numbers[&op] = next += stride;
  }

  static constexpr int64_t stride = int64_t(1) << 45;
  mlir::Block &block;
  size_t numbering = 0; ///< how often the block was numbered
  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_BLOCKORDER_H
