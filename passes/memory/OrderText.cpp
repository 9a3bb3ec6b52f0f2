//===- OrderText.cpp - Order of a block's operations ------------------------------------------===//

#include "passes/memory/OrderText.h"

using namespace mlir;
using namespace mtc;

SmallVector<Operation *, 0> mtc::textOf(Block &block) {
  return llvm::map_to_vector<0>(block, [](Operation &op) { return &op; });
}

void mtc::setText(Block &block, ArrayRef<Operation *> text, MemoryAnalysis &analysis) {
  for (Operation *op : text) {
    op->moveBefore(&block, block.end());
    analysis.notifyOperationInserted(op, {});
  }
}

SmallVector<Operation *, 0> mtc::reordered(ArrayRef<Operation *> text, const OrderModel &model) {
  SmallVector<Operation *, 0> result;
  llvm::DenseSet<Operation *> nodes, written;
  for (unsigned node = 0; node < model.size(); ++node)
    nodes.insert(model.getOperation(node));
  auto write = [&](auto &self, Operation *op) -> void {
    if (!written.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      if (Operation *needed = operand.getDefiningOp(); needed && !nodes.contains(needed))
        self(self, needed);
    result.push_back(op);
  };
  const SmallVector<unsigned, 0> order = model.getOrder();
  for (unsigned node : ArrayRef(order).drop_back())
    write(write, model.getOperation(node));
  for (Operation *op : text) // Operations without users, and the terminator.
    write(write, op);
  return result;
}
