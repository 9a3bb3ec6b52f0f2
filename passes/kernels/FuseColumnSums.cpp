//===- FuseColumnSums.cpp - Fusion of column sums ---------------------------------------------===//

#include "ir/interfaces/TargetInfo.h"
#include "passes/Passes.h"
#include "passes/kernels/JoinKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace mtc {
#define GEN_PASS_DEF_FUSECOLUMNSUMS
#include "passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// Returns whether all results of a kernel are independent floating-point sums over leading dims.
bool isColumnSum(KernelOp kernel) {
  if (kernel.getShape() != FusibleShape::ColumnReduction)
    return false;
  for (auto reduce : kernel.getBody().front().getOps<KernelReduceOp>())
    if (reduce.getKind() != ReductionKind::Add || !isa<FloatType>(reduce.getType()) ||
        !llvm::all_of(reduce->getUsers(), [](Operation *op) { return isa<KernelYieldOp>(op); }))
      return false;
  return llvm::all_of(yieldOf(kernel).getValues(),
                      [](Value value) { return value.getDefiningOp<KernelReduceOp>() != nullptr; });
}

/// Replaces a kernel by one with other reduced dims. The caller must update the yield.
KernelOp replaceReduced(KernelOp kernel, ArrayRef<int64_t> reduced, UserIndex &index) {
  int64_t position = index.remove(kernel);
  OpBuilder builder(kernel);
  auto changed =
      KernelOp::create(builder, kernel.getLoc(), kernel->getResultTypes(), kernel.getSpace(),
                       reduced, kernel.getIterations(), kernel.getInputs());
  changed->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  changed.getBody().takeBody(kernel.getBody());
  kernel->replaceAllUsesWith(changed);
  kernel.erase();
  index.insert(changed, position);
  return changed;
}

/// Converts reductions over leading dims to column sums of an elementwise kernel.
KernelOp reductionsToColumnSums(KernelOp kernel, UserIndex &index) {
  KernelOp changed = replaceReduced(kernel, {}, index);
  KernelYieldOp yield = yieldOf(changed);
  yield.setAdded(llvm::to_vector(llvm::seq<int64_t>(0, changed->getNumResults())));
  for (auto reduce :
       llvm::make_early_inc_range(changed.getBody().front().getOps<KernelReduceOp>())) {
    reduce.replaceAllUsesWith(reduce.getValue());
    reduce.erase();
  }
  return changed;
}

/// Undoes `reductionsToColumnSums`.
KernelOp columnSumsToReductions(KernelOp kernel, ArrayRef<int64_t> reduced, UserIndex &index) {
  KernelOp changed = replaceReduced(kernel, reduced, index);
  KernelYieldOp yield = yieldOf(changed);
  yield.setAdded({});
  OpBuilder builder(yield);
  for (OpOperand &value : yield.getValuesMutable())
    value.set(KernelReduceOp::create(builder, changed.getLoc(), ReductionKind::Add, value.get(),
                                     /*isUnsigned=*/false));
  return changed;
}

/// Returns the kernels that compute or read a large part of the operands of `kernel`: producers
/// first, then the nearest users, since there may be many.
SmallVector<KernelOp> partnersOf(KernelOp kernel, const UserIndex &index) {
  constexpr unsigned maxUsers = 32; // Per value and direction.
  llvm::SmallSetVector<KernelOp, 8> producers, users;
  llvm::SmallSetVector<Value, 8> roots;
  for (Value input : kernel.getInputs())
    if (cast<RankedTensorType>(input.getType()).getNumElements() * 2 >= iterationsOf(kernel))
      roots.insert(rootOf(input));
  for (Value root : roots) {
    if (auto producer = root.getDefiningOp<KernelOp>())
      producers.insert(producer);
    users.insert_range(index.kernelsBefore(root, kernel, maxUsers));
    users.insert_range(index.kernelsAfter(root, kernel, maxUsers));
  }
  SmallVector<KernelOp> partners(producers.begin(), producers.end());
  for (KernelOp user : users)
    if (!producers.contains(user))
      partners.push_back(user);
  return partners;
}

class FuseColumnSumsPass : public mtc::impl::FuseColumnSumsBase<FuseColumnSumsPass> {
public:
  using FuseColumnSumsBase::FuseColumnSumsBase;

private:
  void runOnOperation() override {
    if (keepsSumOrder(getOperation()))
      return; // A column sum would have the order of the rows of its kernel.
    target = TargetInfo::of(getOperation());
    // Column sums are not fused with each other, so none is erased before it is visited.
    SmallVector<KernelOp> sums(
        llvm::make_filter_range(getOperation().getOps<KernelOp>(), [](KernelOp kernel) {
          return isColumnSum(kernel) && !isAddendOfRanks(kernel);
        }));
    UserIndex index(getOperation().front());
    for (KernelOp kernel : sums)
      fuse(kernel, index);
  }

  void fuse(KernelOp kernel, UserIndex &index) {
    SmallVector<int64_t> reduced(kernel.getReduced());
    KernelOp sums = reductionsToColumnSums(kernel, index);
    StringRef reason = "no kernel computes or reads the rows";
    if (scratchIsTooLarge(sums)) {
      reason = "the partial sums would be too large";
    } else {
      for (KernelOp partner : partnersOf(sums, index)) {
        if (partner.getShape() == FusibleShape::ColumnReduction) {
          reason = "another column sum reads the rows";
          continue;
        }
        bool isAfter = index.isBefore(sums, partner);
        KernelOp first = isAfter ? sums : partner, second = isAfter ? partner : sums;
        std::optional<Joint> joint =
            findJoint(first, second, {maxInputs, maxOperations}, index, reason);
        if (!joint)
          continue;
        KernelOp joined = joinKernels(first, second, *joint, index);
        remark::passed(joined.getLoc(), remark::RemarkOpts::name("fused").category(categoryName))
            << remark::metric("column_sums", yieldOf(joined).getAdded().size());
        return;
      }
    }
    kernel = columnSumsToReductions(sums, reduced, index);
    remark::missed(kernel.getLoc(), remark::RemarkOpts::name("not-fused").category(categoryName))
        << remark::reason("{0}", reason);
  }

  bool scratchIsTooLarge(KernelOp sums) {
    int64_t moved = 0;
    for (Value input : sums.getInputs())
      moved += bytesOf(input);
    return target.getScratchBytes(sums) > std::max<int64_t>(moved / 64, 1 << 20);
  }

  static constexpr StringLiteral categoryName = "mtc-fuse-column-sums";
  TargetInfo target;
};

} // namespace
