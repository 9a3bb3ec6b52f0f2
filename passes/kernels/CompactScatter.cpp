//===- CompactScatter.cpp - Compaction of embedding gradients ---------------------------------===//

#include "ir/builders/TensorBuilder.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mtc {
#define GEN_PASS_DEF_COMPACTSCATTER
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

class CompactScatterPass : public mtc::impl::CompactScatterBase<CompactScatterPass> {
public:
  using CompactScatterBase::CompactScatterBase;

private:
  void runOnOperation() override {
    for (auto op : llvm::to_vector(getOperation().getOps<ScatterAddOp>()))
      if (isWorthIt(op)) {
        op.replaceAllUsesWith(compact(op));
        op.erase();
      }
  }

  /// Returns whether the table is much longer than the number of indices. Finding the first update
  /// of each row is quadratic in the number of indices.
  bool isWorthIt(ScatterAddOp op) {
    constexpr int64_t minShrinkage = 4;
    int64_t count = op.getIndices().getType().getNumElements();
    RankedTensorType table = op.getResult().getType();
    return !op.getOnto() && op.getAxis() == 0 && op.getBatch() == 0 && table.getRank() > 1 &&
           count > 0 && count <= maxIndices && table.getDimSize(0) >= count * minShrinkage;
  }

  Value compact(ScatterAddOp op) {
    TensorBuilder b(op.getLoc(), op);
    RankedTensorType table = op.getResult().getType();
    int64_t rows = table.getDimSize(0), count = op.getIndices().getType().getNumElements();
    SmallVector<int64_t> shape = {count};
    llvm::append_range(shape, table.getShape().drop_front());
    Value updates = b.reshape(op.getUpdates(), shape);
    Value given = b.cast(b.reshape(op.getIndices(), {count}), b.getI64Type());
    // Negative indices count from the end.
    Value indices = b.select(b.compare(Predicate::Lt, given, b.splat(given, 0)),
                             b.add(given, b.splat(given, rows)), given);

    // Each row is assigned the number of its first update, counted from 1; 0 marks unused rows.
    auto pairs = RankedTensorType::get({count, count}, b.getI64Type());
    Value isSame = b.compare(Predicate::Eq, b.broadcast(indices, {1}, pairs.getShape()),
                             b.broadcast(indices, {0}, pairs.getShape()));
    Value isEarlier = b.compare(Predicate::Lt, b.iota(pairs, 1), b.iota(pairs, 0));
    Value isRepeated = b.reduce(ReductionKind::Or, b.logicalAnd(isSame, isEarlier), {1});
    Value number = b.add(b.iota(cast<RankedTensorType>(indices.getType()), 0), b.splat(indices, 1));
    Value firsts = b.select(isRepeated, b.splat(indices, 0), number);
    Value places = b.scatterAdd(firsts, indices, /*axis=*/0, /*batch=*/0, rows);

    Value own = b.gather(places, indices, /*axis=*/0, /*batch=*/0);
    Value sums = b.scatterAdd(updates, b.sub(own, b.splat(own, 1)), /*axis=*/0, /*batch=*/0, count);

    Value isNamed = b.compare(Predicate::Gt, places, b.splat(places, 0));
    Value place = b.select(isNamed, b.sub(places, b.splat(places, 1)), b.splat(places, 0));
    Value found = b.gather(sums, place, /*axis=*/0, /*batch=*/0);
    SmallVector<int64_t> axes;
    for (int64_t axis = 1; axis < table.getRank(); ++axis)
      axes.push_back(axis);
    return b.select(b.broadcast(isNamed, axes, table.getShape()), found, b.splat(table, 0.0));
  }
};

} // namespace
