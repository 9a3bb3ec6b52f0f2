//===- AdaptableUses.cpp - Contractions with a weight -----------------------------------------===//

#include "passes/adapters/AdaptableUses.h"

#include "ir/NodeNames.h"

using namespace mlir;
using namespace mtc;

namespace {

class UseFinder {
public:
  UseFinder(AdaptableUses &found, bool throughCasts) : found(found), throughCasts(throughCasts) {}

  /// Follows the users of a value; `axes` maps the value's axes to the variable's.
  void follow(Value value, ArrayRef<int64_t> axes) {
    for (OpOperand &use : value.getUses()) {
      if (auto transpose = dyn_cast<TransposeOp>(use.getOwner()))
        follow(transpose, pick(axes, transpose.getPermutation()));
      else if (auto cast = dyn_cast<CastOp>(use.getOwner()); cast && throughCasts)
        follow(cast, axes);
      else if (auto contraction = dyn_cast<ContractOp>(use.getOwner()))
        take(contraction, use.getOperandNumber(), axes);
      else
        refuse(use.getOwner());
    }
  }

private:
  static SmallVector<int64_t> pick(ArrayRef<int64_t> axes, ArrayRef<int64_t> permutation) {
    return llvm::map_to_vector(permutation, [&](int64_t axis) { return axes[axis]; });
  }

  void take(ContractOp contraction, unsigned operand, ArrayRef<int64_t> axes) {
    ArrayRef<int64_t> batch = contraction.getLhsBatch(), over = operand == 0
                                                                    ? contraction.getLhsContract()
                                                                    : contraction.getRhsContract();
    if (!batch.empty() || over.size() != 1)
      found.reason = "used by a batched contraction or one over both axes";
    else if (!contractions.insert(contraction).second)
      found.reason = "it is multiplied by itself";
    else
      found.uses.push_back({contraction, operand, axes[over.front()]});
  }

  void refuse(Operation *user) {
    found.isConvolved |= isa<ConvolveOp>(user);
    std::string nodes = nodeNames(user->getLoc());
    if (!nodes.empty())
      nodes = "node '" + nodes + "'";
    else
      nodes = isa<GatherOp>(user)     ? "a lookup"
              : isa<ConvolveOp>(user) ? "a convolution"
                                      : "an operation other than a contraction";
    found.reason = "used by " + nodes;
  }

  AdaptableUses &found;
  bool throughCasts;
  DenseSet<Operation *> contractions;
};

} // namespace

AdaptableUses AdaptableUses::find(VariableOp variable, func::FuncOp function, bool throughCasts) {
  AdaptableUses found;
  RankedTensorType type = variable.getTensorType();
  UseFinder finder(found, throughCasts);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  for (auto read : function.front().getOps<ReadOp>())
    if (read.getVariable() == variable.getSymName())
      finder.follow(read, axes);
  llvm::sort(found.uses, [](const AdaptableUse &a, const AdaptableUse &b) {
    return ContractOp(a.contraction)->isBeforeInBlock(ContractOp(b.contraction));
  });
  if (!isDifferentiable(type) || type.getRank() != 2)
    found.reason = "it is not a matrix";
  else if (found.uses.empty() && found.reason.empty())
    found.reason = "it is unused";
  return found;
}
