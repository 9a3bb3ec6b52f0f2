//===- DisableDropout.cpp - Inference form of dropout in training steps -----------------------===//

#include "ir/NodeNames.h"
#include "ir/ReservedNames.h"
#include "passes/Passes.h"

namespace mtc {
#define GEN_PASS_DEF_DISABLEDROPOUT
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

struct DisableDropoutPass : mtc::impl::DisableDropoutBase<DisableDropoutPass> {
  void runOnOperation() override;
};

} // namespace

void DisableDropoutPass::runOnOperation() {
  auto function = getOperation().lookupSymbol<func::FuncOp>(microStepName);
  if (!function)
    return;
  /// Values that depend on random numbers. Operations are visited in order, so that those after a
  /// dropout no longer depend on its numbers.
  DenseSet<Value> random;
  SmallVector<std::string> nodes;
  for (Operation &op : llvm::make_early_inc_range(function.front())) {
    auto select = dyn_cast<SelectByModeOp>(op);
    if (select && random.contains(select.getTraining())) {
      if (std::string name = nodeNames(op.getLoc()); !llvm::is_contained(nodes, name))
        nodes.push_back(name);
      select.replaceAllUsesWith(select.getInference());
      select.erase();
      continue;
    }
    if (isa<RandomBitsOp>(op) ||
        llvm::any_of(op.getOperands(), [&](Value operand) { return random.contains(operand); }))
      random.insert(op.result_begin(), op.result_end());
  }
  if (nodes.empty())
    return;
  constexpr size_t shown = 3;
  const size_t count = nodes.size();
  emitWarning(UnknownLoc::get(&getContext()), "dropout: the gradient is computed without it, as in "
                                              "inference: ")
      << count << (count == 1 ? " node, '" : " nodes, '")
      << llvm::join(ArrayRef(nodes).take_front(shown), "', '") << (count > shown ? "', …" : "'");
}
