//===- BlockOrder.h - Order of a block's operations under edits -------------------------------===//

#ifndef MTC_PASSES_RECOMPUTE_BLOCKORDER_H
#define MTC_PASSES_RECOMPUTE_BLOCKORDER_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace mtc {

/// Maintains the order of a block's operations under frequent insertions and removals. MLIR's own
/// numbering has few free indices between two operations, and renumbers the whole block at the next
/// query when they are used up.
class BlockOrder {
public:
  explicit BlockOrder(mlir::Block &block) : block(block) { number(); }

  /// Returns whether the operation has a position. New operations have none before they are
  /// inserted, and neither have operations of other blocks.
  bool contains(mlir::Operation *op) const { return numbers.contains(op); }
  bool isBefore(mlir::Operation *first, mlir::Operation *second) const {
    return numbers.at(first) < numbers.at(second);
  }
  /// Inserts an operation of this block, or a detached one, before `next`.
  void put(mlir::Operation *op, mlir::Operation *next) {
    if (op->getBlock())
      op->remove();
    block.getOperations().insert(next->getIterator(), op);
    mlir::Operation *previous = op->getPrevNode();
    const int64_t low = previous ? numbers.at(previous) : numbers.at(next) - 2 * stride;
    // Most insertions precede the same operation one after another, so leave nearly the whole gap
    // after the inserted operation.
    const int64_t between = low + (numbers.at(next) - low) / 32;
    numbers[op] = between;
    if (between == low)
      spread(op);
  }
  /// Position of an operation, to restore it after other operations were removed.
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
  /// Numbers the operations around one anew: as few as leave a large gap between neighbors.
  void spread(mlir::Operation *op) {
    constexpr int64_t minGap = int64_t(1) << 20;
    mlir::Operation *first = op, *last = op; // The operations before and after those to number.
    for (int64_t count = 1, steps = 32; first && last; steps *= 2) {
      for (int64_t step = 0; step < steps && first && last; ++step, count += 2) {
        first = first->getPrevNode();
        last = last->getNextNode();
      }
      if (!first || !last)
        break;
      const int64_t begin = numbers.at(first), gap = (numbers.at(last) - begin) / count;
      if (gap < minGap)
        continue;
      ++numbering;
      int64_t next = begin;
      for (mlir::Operation *each = first->getNextNode(); each != last; each = each->getNextNode())
        numbers[each] = next += gap;
      return;
    }
    number();
  }

  void number() {
    ++numbering;
    int64_t next = 0;
    for (mlir::Operation &op : block)
      numbers[&op] = next += stride;
  }

  static constexpr int64_t stride = int64_t(1) << 45;
  mlir::Block &block;
  size_t numbering = 0; ///< number of renumberings so far
  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_BLOCKORDER_H
