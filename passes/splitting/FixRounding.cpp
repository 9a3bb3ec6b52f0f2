//===- FixRounding.cpp - Rounding that does not depend on fusion ------------------------------===//

#include "passes/splitting/FixRounding.h"

#include "ir/builders/TensorBuilder.h"
#include "passes/splitting/SplitRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mtc;

/// Returns whether a narrow value is only cast to f32, also after it has been moved. Adds its
/// movements and casts.
static bool isWidened(Value value, SmallVectorImpl<Operation *> &movements,
                      SmallVectorImpl<Operation *> &casts) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isa<CastOp>(user) && typeOf(user->getResult(0)).getElementType().isF32()) {
      casts.push_back(user);
      return true;
    }
    if (!isa<ReshapeOp, TransposeOp>(user))
      return false;
    movements.push_back(user);
    return isWidened(user->getResult(0), movements, casts);
  });
}

/// Lets a contraction return its f32 accumulators to an operation that computes in f32: whether it
/// is fused with this operation must not decide whether its result is rounded. Several users, such
/// as those of the backward pass and of a softmax, read a stored and rounded result.
static void keepAccumulators(ContractOp contract) {
  SmallVector<Operation *> movements, casts;
  if (addendType(contract.getType()) == contract.getType() ||
      !isWidened(contract.getResult(), movements, casts) || casts.size() != 1 ||
      !casts.front()->hasOneUse())
    return;
  Operation *cast = casts.front();
  cast->getResult(0).replaceAllUsesWith(cast->getOperand(0));
  cast->erase();
  contract.getResult().setType(addendType(contract.getType()));
  for (Operation *movement : movements)
    movement->getResult(0).setType(addendType(movement->getResult(0).getType()));
}

/// Erases operations that are dead after the division, since they do not count as users.
static void eraseDead(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
      if (isOpTriviallyDead(&op))
        op.erase();
}

void mtc::fixRounding(ModuleOp module) {
  eraseDead(module);
  module.walk([](CastOp cast) { cast.setStorage(false); });
  SmallVector<ContractOp> contractions;
  module.walk([&](ContractOp contract) { contractions.push_back(contract); });
  for (ContractOp contract : contractions)
    keepAccumulators(contract);
}
