//===- KeepChannelsLast.cpp - Sinking of layout transposes ------------------------------------===//

#include "ir/builders/TensorBuilder.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace mtc {
#define GEN_PASS_DEF_KEEPCHANNELSLAST
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class KeepChannelsLastPass : public mtc::impl::KeepChannelsLastBase<KeepChannelsLastPass> {
  void runOnOperation() override {
    moving.clear();
    // Producers precede their users, so that each operation is visited once.
    Block &body = getOperation().front();
    for (Operation &op : llvm::make_early_inc_range(body))
      visit(&op);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  void visit(Operation *op) {
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      Operation *producer = transpose.getInput().getDefiningOp();
      if (producer && producer->hasTrait<mtc::ChannelsLast>())
        moving.insert(transpose);
      return;
    }
    auto transposable = dyn_cast<TransposableOpInterface>(op);
    if (!transposable)
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!moving.contains(operand.get()))
        continue;
      TensorBuilder b(op->getLoc(), op);
      auto [value, permutation] = transposable.buildOnTransposed(b, operand.getOperandNumber());
      if (!value)
        continue;
      if (!isIdentityPermutation(permutation)) {
        value = b.transpose(value, permutation);
        moving.insert(value);
      }
      op->getResult(0).replaceAllUsesWith(value);
      return;
    }
  }

  /// Results of the transposes that are moved to their users.
  DenseSet<Value> moving;
};

} // namespace
