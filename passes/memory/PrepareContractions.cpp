//===- PrepareContractions.cpp - Contractions become ones that a library takes ----------------===//

#include "ir/TensorBuilder.h"
#include "passes/Passes.h"
#include "passes/memory/ContractionShape.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <numeric>

namespace mtc {
#define GEN_PASS_DEF_PREPARECONTRACTIONS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class PrepareContractionsPass : public mtc::impl::PrepareContractionsBase<PrepareContractionsPass> {
  void runOnOperation() override {
    SmallVector<ContractOp> contractions;
    getOperation().walk([&](ContractOp op) { contractions.push_back(op); });
    for (ContractOp op : contractions)
      prepare(op);
  }

  static SmallVector<int64_t> iota(int64_t first, int64_t count) {
    SmallVector<int64_t> result(count);
    std::iota(result.begin(), result.end(), first);
    return result;
  }

  /// x with its axes in the order batch, free, contracted.
  static Value reorder(TensorBuilder &b, Value x, ArrayRef<int64_t> batch, ArrayRef<int64_t> free,
                       ArrayRef<int64_t> contracted) {
    SmallVector<int64_t> permutation(batch);
    llvm::append_range(permutation, free);
    llvm::append_range(permutation, contracted);
    return b.transpose(x, permutation);
  }

  void prepare(ContractOp op) {
    if (op.getFusibleShape() != FusibleShape::Opaque)
      return; // A kernel computes it, with any strides.
    ContractionView view = viewContraction(op);
    if (view.shape)
      return;
    TensorBuilder b(op.getLoc(), op);
    Value lhs = op.getLhs(), rhs = op.getRhs();
    SmallVector<int64_t> lhsBatch(op.getLhsBatch()), rhsBatch(op.getRhsBatch());
    SmallVector<int64_t> lhsContract(op.getLhsContract()), rhsContract(op.getRhsContract());
    int64_t batch = lhsBatch.size(), contracted = lhsContract.size();
    if (!view.lhsFits) {
      SmallVector<int64_t> free = op.getLhsFree();
      lhs = reorder(b, lhs, lhsBatch, free, lhsContract);
      lhsBatch = iota(0, batch);
      lhsContract = iota(batch + free.size(), contracted);
    }
    if (!view.rhsFits) {
      SmallVector<int64_t> free = op.getRhsFree();
      rhs = reorder(b, rhs, rhsBatch, free, rhsContract);
      rhsBatch = iota(0, batch);
      rhsContract = iota(batch + free.size(), contracted);
    }
    op.replaceAllUsesWith(b.contract(lhs, rhs, lhsBatch, rhsBatch, lhsContract, rhsContract));
    op.erase();
  }
};

} // namespace
