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
    const int64_t between = low + (numbers.at(next) - low) / 256;
    numbers[op] = between;
    if (between == low)
      number();
  }
  void erase(mlir::Operation *op) {
    numbers.erase(op);
    op->erase();
  }

private:
  void number() {
    int64_t next = 0;
    for (mlir::Operation &op : block)
      numbers[&op] = next += stride;
  }

  static constexpr int64_t stride = int64_t(1) << 40;
  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, int64_t> numbers;
};

} // namespace mtc

#endif // MTC_PASSES_RECOMPUTE_BLOCKORDER_H
