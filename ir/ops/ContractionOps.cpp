//===- ContractionOps.cpp - Sums of products over common axes ---------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/Shape.h"
#include "ir/builders/TensorBuilder.h"
#include "ir/ops/Contraction.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mtc;

/// Returns `count` consecutive axes from `first`.
static SmallVector<int64_t> range(int64_t first, int64_t count) {
  return llvm::to_vector(llvm::seq(first, first + count));
}

SmallVector<int64_t> ContractOp::getLhsFree() { return Contraction(*this).getLhsFree(); }

SmallVector<int64_t> ContractOp::getRhsFree() { return Contraction(*this).getRhsFree(); }

LogicalResult ContractOp::verify() { return Contraction(*this).verify(); }

Cost ContractOp::getCost() { return Contraction(*this).getCost(); }

//===------------------------------------------------------------------------------------------===//
// Library call
//===------------------------------------------------------------------------------------------===//

bool ContractOp::isLibraryCall() { return Contraction(*this).isLibraryCall(); }

/// Libraries multiply matrices whose rows and columns each have a single stride.
bool ContractOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return Contraction(*this).takesLayout(operand, strides);
}

SmallVector<int64_t> ContractOp::getDenseOrder(unsigned operand) {
  return Contraction(*this).getDenseOrder(operand);
}

CallAttrInterface ContractOp::describeCall(std::optional<unsigned> accumulated) {
  return ContractionCallAttr::get(getContext(), Contraction(*this).describe(accumulated));
}

//===------------------------------------------------------------------------------------------===//
// Epilogues
//===------------------------------------------------------------------------------------------===//

Operation *ContractOp::buildAdding(OpBuilder &builder, Value value) {
  if (!Contraction(*this).mayAdd(value.getType()))
    return nullptr;
  return Contraction(*this).buildFused(builder, {.addends = {value}});
}

Operation *ContractOp::buildActivated(OpBuilder &builder, Activation activation, bool hasAuxiliary,
                                      Value preactivation) {
  if (hasAuxiliary && activation != Activation::Gelu)
    return nullptr;
  return Contraction(*this).buildFused(
      builder,
      {.activation = activation, .hasAuxiliary = hasAuxiliary, .preactivation = preactivation});
}

Operation *ContractOp::buildSumming(OpBuilder &builder, Value summed, ArrayRef<int64_t> kept) {
  std::optional<Summed> found = Contraction(*this).findSummed(summed, kept);
  if (!found || found == Summed::Result)
    return nullptr; // Libraries can reduce their result only after an activation.
  return Contraction(*this).buildFused(builder, {.summed = found});
}

bool ContractOp::mayAccumulate(unsigned) { return false; }

//===------------------------------------------------------------------------------------------===//
// Gradient
//===------------------------------------------------------------------------------------------===//

namespace {

/// The properties of one operand that its gradient needs.
struct Side {
  ArrayRef<int64_t> batch, contracted;
  SmallVector<int64_t> free;
  int64_t rank;
  /// Position of the first free axis in the result.
  int64_t freeBegin;
};

} // namespace

/// For y = sum over k of x[b, f, k] * o[b, k, h], the gradient is dx = sum over h of dy[b, f, h] *
/// o[b, k, h]. The contraction returns the axes in the order (batch, f, k) or, with exchanged
/// operands, (batch, k, f); the order that does not need a transpose to that of x is used.
static Value operandGradient(GradientBuilder &g, const Side &x, const Side &other, Value operand) {
  Value dy = g.cast(g.cotangent(0), typeOf(operand).getElementType());
  int64_t batch = x.batch.size(), contracted = x.contracted.size();
  SmallVector<int64_t> dyBatch = range(0, batch);
  SmallVector<int64_t> dyContract = range(other.freeBegin, other.free.size());

  // The contracted axes are in the order of the other operand's axes.
  SmallVector<int64_t> byOther = range(0, contracted);
  llvm::sort(byOther,
             [&](int64_t a, int64_t b) { return other.contracted[a] < other.contracted[b]; });
  SmallVector<int64_t> contractedAxes = pick(x.contracted, byOther);
  bool exchange = joined(joined(x.batch, x.free), contractedAxes) != range(0, x.rank) &&
                  joined(joined(x.batch, contractedAxes), x.free) == range(0, x.rank);
  SmallVector<int64_t> order = exchange ? joined(joined(x.batch, contractedAxes), x.free)
                                        : joined(joined(x.batch, x.free), contractedAxes);
  Value dx = exchange ? g.contract(operand, dy, other.batch, dyBatch, other.free, dyContract)
                      : g.contract(dy, operand, dyBatch, other.batch, dyContract, other.free);
  return g.transpose(dx, invertPermutationVector(order));
}

void ContractOp::buildGradient(GradientBuilder &g) {
  int64_t batch = getLhsBatch().size();
  Side lhs{getLhsBatch(), getLhsContract(), getLhsFree(), getLhs().getType().getRank(), batch};
  Side rhs{getRhsBatch(), getRhsContract(), getRhsFree(), getRhs().getType().getRank(),
           batch + static_cast<int64_t>(lhs.free.size())};
  if (g.needs(0))
    g.set(0, operandGradient(g, lhs, rhs, getRhs()));
  if (g.needs(1))
    g.set(1, operandGradient(g, rhs, lhs, getLhs()));
}

//===------------------------------------------------------------------------------------------===//
// Kernel
//===------------------------------------------------------------------------------------------===//

FusibleShape ContractOp::getFusibleShape() {
  if (isLibraryCall())
    return FusibleShape::Opaque;
  return getLhsContract().empty() ? FusibleShape::Elementwise : FusibleShape::RowReduction;
}

/// A row reduction over the space (batch, lhs free, rhs free, contracted).
Operation *ContractOp::buildKernel(OpBuilder &builder) {
  SmallVector<int64_t> lhsFree = getLhsFree(), rhsFree = getRhsFree();
  int64_t resultRank = getType().getRank(), contracted = getLhsContract().size();
  int64_t batch = getLhsBatch().size(), lhsFreeCount = lhsFree.size();
  SmallVector<int64_t> space =
      joined(getType().getShape(), pick(shapeOf(getLhs()), getLhsContract()));
  SmallVector<int64_t> reduced = range(resultRank, contracted);
  KernelBuilder kernel(builder, *this, space, reduced);

  auto read = [&](unsigned operand, ArrayRef<int64_t> batchAxes, ArrayRef<int64_t> freeAxes,
                  int64_t freeBegin, ArrayRef<int64_t> contractAxes) {
    SmallVector<AffineExpr> index(typeOf(getOperand(operand)).getRank());
    for (auto [i, axis] : llvm::enumerate(batchAxes))
      index[axis] = kernel.dim(i);
    for (auto [i, axis] : llvm::enumerate(freeAxes))
      index[axis] = kernel.dim(freeBegin + i);
    for (auto [i, axis] : llvm::enumerate(contractAxes))
      index[axis] = kernel.dim(resultRank + i);
    return kernel.load(operand, index);
  };
  Value a = read(0, getLhsBatch(), lhsFree, batch, getLhsContract());
  Value b = read(1, getRhsBatch(), rhsFree, batch + lhsFreeCount, getRhsContract());
  Value value = detail::arithmetic<arith::MulFOp, arith::MulIOp>(kernel.body(), getLoc(), a, b);
  value = kernel.reduce(ReductionKind::Add, value);
  SmallVector<AffineExpr> place;
  for (int64_t i = 0; i < resultRank; ++i)
    place.push_back(kernel.dim(i));
  return kernel.yield(value, place);
}

//===------------------------------------------------------------------------------------------===//
// Canonicalization
//===------------------------------------------------------------------------------------------===//

namespace {

/// contract(transpose(x), y) => contract(x, y) on other axes, and the same for y. Free axes are in
/// ascending order in the result, so the transpose must keep their order.
struct FoldOperandTransposes : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    auto absorb = [](Value &value, SmallVector<int64_t> &batch, SmallVector<int64_t> &contracted,
                     ArrayRef<int64_t> free) {
      auto transpose = value.getDefiningOp<TransposeOp>();
      if (!transpose || !llvm::is_sorted(pick(transpose.getPermutation(), free)))
        return false;
      value = transpose.getInput();
      batch = pick(transpose.getPermutation(), batch);
      contracted = pick(transpose.getPermutation(), contracted);
      return true;
    };
    Value lhs = op.getLhs(), rhs = op.getRhs();
    SmallVector<int64_t> lhsBatch(op.getLhsBatch()), rhsBatch(op.getRhsBatch()),
        lhsContract(op.getLhsContract()), rhsContract(op.getRhsContract());
    bool changed = absorb(lhs, lhsBatch, lhsContract, op.getLhsFree());
    changed |= absorb(rhs, rhsBatch, rhsContract, op.getRhsFree());
    if (!changed)
      return rewriter.notifyMatchFailure(op, "no operand's transpose can be read through");
    rewriter.replaceOpWithNewOp<ContractOp>(op, op.getType(), lhs, rhs, lhsBatch, rhsBatch,
                                            lhsContract, rhsContract);
    return success();
  }
};

/// contract(x, broadcast(y)) => contract(x, y), if the broadcast only repeats y along batch axes
/// that can become free axes of x without changing the order of the result's axes.
struct FoldBatchBroadcast : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    auto broadcast = op.getRhs().getDefiningOp<BroadcastOp>();
    if (!broadcast)
      return rewriter.notifyMatchFailure(op, "rhs is no broadcast");
    auto isBatch = [&](int64_t axis) { return llvm::is_contained(op.getRhsBatch(), axis); };
    if (!llvm::all_of(broadcast.getAxes(), isBatch))
      return rewriter.notifyMatchFailure(op, "an axis that is repeated is no batch axis");
    size_t kept = op.getRhsBatch().size() - broadcast.getAxes().size();
    if (llvm::any_of(op.getRhsBatch().take_front(kept),
                     [&](int64_t axis) { return llvm::is_contained(broadcast.getAxes(), axis); }))
      return rewriter.notifyMatchFailure(op, "the batch axes that are repeated are not the last");
    if (!llvm::is_sorted(joined(op.getLhsBatch().drop_front(kept), op.getLhsFree())))
      return rewriter.notifyMatchFailure(op, "the result's axes would change their order");
    // Axes of the broadcast's operand.
    SmallVector<int64_t> remaining = otherAxes(shapeOf(broadcast).size(), broadcast.getAxes());
    auto below = [&](ArrayRef<int64_t> axes) {
      return llvm::map_to_vector(axes, [&](int64_t axis) -> int64_t {
        return llvm::find(remaining, axis) - remaining.begin();
      });
    };
    rewriter.replaceOpWithNewOp<ContractOp>(
        op, op.getType(), op.getLhs(), broadcast.getInput(), op.getLhsBatch().take_front(kept),
        below(op.getRhsBatch().take_front(kept)), op.getLhsContract(), below(op.getRhsContract()));
    return success();
  }
};

/// transpose(contract(x, y)) => contract(y, x), if it exchanges the free axes of x and y.
struct FoldResultTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto contract = op.getInput().getDefiningOp<ContractOp>();
    if (!contract || !contract->hasOneUse())
      return rewriter.notifyMatchFailure(op, "operand is no contraction for this alone");
    int64_t batch = contract.getLhsBatch().size(), lhsFree = contract.getLhsFree().size(),
            rhsFree = contract.getRhsFree().size();
    ArrayRef<int64_t> permutation = op.getPermutation();
    SmallVector<int64_t> order(permutation.take_front(batch));
    if (llvm::any_of(order, [=](int64_t axis) { return axis >= batch; }) ||
        permutation.drop_front(batch) !=
            ArrayRef<int64_t>(joined(range(batch + lhsFree, rhsFree), range(batch, lhsFree))))
      return rewriter.notifyMatchFailure(op, "free axes are not exchanged as a whole");
    rewriter.replaceOpWithNewOp<ContractOp>(
        op, op.getType(), contract.getRhs(), contract.getLhs(), pick(contract.getRhsBatch(), order),
        pick(contract.getLhsBatch(), order), contract.getRhsContract(), contract.getLhsContract());
    return success();
  }
};

/// reduce add(contract(x, y)) => contract(x, y) in which the reduced batch axes are contracted.
struct FoldSumOverBatch : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto contract = op.getInput().getDefiningOp<ContractOp>();
    if (op.getKind() != ReductionKind::Add || !contract || !contract->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no sum of a contraction for this alone");
    int64_t batch = contract.getLhsBatch().size();
    if (llvm::any_of(op.getAxes(), [=](int64_t axis) { return axis >= batch; }))
      return rewriter.notifyMatchFailure(op, "an axis is no batch axis");
    SmallVector<int64_t> kept = otherAxes(batch, op.getAxes());
    rewriter.replaceOpWithNewOp<ContractOp>(
        op, op.getType(), contract.getLhs(), contract.getRhs(), pick(contract.getLhsBatch(), kept),
        pick(contract.getRhsBatch(), kept),
        joined(pick(contract.getLhsBatch(), op.getAxes()), contract.getLhsContract()),
        joined(pick(contract.getRhsBatch(), op.getAxes()), contract.getRhsContract()));
    return success();
  }
};

/// contract over an empty axis => 0.
struct FoldEmptyContraction : OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    if (!llvm::is_contained(pick(shapeOf(op.getLhs()), op.getLhsContract()), 0))
      return rewriter.notifyMatchFailure(op, "every contracted axis has elements");
    TensorBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, builder.splat(op.getType(), 0.0));
    return success();
  }
};

} // namespace

void ContractOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldOperandTransposes, FoldBatchBroadcast, FoldResultTranspose, FoldSumOverBatch,
               FoldEmptyContraction>(context);
}
