//===- EmptyTensors.cpp - Folding of tensors without elements ---------------------------------===//
//
// Exporters create such tensors, for example for an empty cache or an empty slice. Kernels do not
// support empty iteration spaces, so canonicalization removes all computation of empty tensors.
// Reductions, contractions and padding of empty tensors fold next to their definitions.
//
//===------------------------------------------------------------------------------------------===//

#include "ir/Mtc.h"
#include "ir/builders/TensorBuilder.h"

using namespace mlir;
using namespace mtc;

namespace {

bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && llvm::is_contained(tensor.getShape(), 0);
}

/// op(..) => constants, if no result has elements. Variables without elements have one value.
struct FoldEmptyResults : RewritePattern {
  explicit FoldEmptyResults(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa_and_present<MtcDialect>(op->getDialect()) || isa<mtc::ConstantOp>(op) ||
        (!isPure(op) && !isa<ReadOp>(op)) || op->getNumResults() == 0 ||
        !llvm::all_of(op->getResultTypes(), isEmpty))
      return failure();
    TensorBuilder builder(op->getLoc(), rewriter);
    SmallVector<Value> values;
    for (Type type : op->getResultTypes())
      values.push_back(builder.constant(
          DenseElementsAttr::get(cast<RankedTensorType>(type), ArrayRef<Attribute>())));
    rewriter.replaceOp(op, values);
    return success();
  }
};

/// write(variable, nothing) => nothing.
struct EraseEmptyWrite : OpRewritePattern<WriteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(WriteOp op, PatternRewriter &rewriter) const override {
    if (!isEmpty(op.getValue().getType()))
      return rewriter.notifyMatchFailure(op, "the variable has elements");
    rewriter.eraseOp(op);
    return success();
  }
};

/// scatter_add of no updates => 0, or `onto`.
struct FoldScatterOfNothing : OpRewritePattern<ScatterAddOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterAddOp op, PatternRewriter &rewriter) const override {
    if (!llvm::is_contained(shapeOf(op.getUpdates()), 0))
      return rewriter.notifyMatchFailure(op, "there are updates");
    TensorBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, op.getOnto() ? op.getOnto() : builder.splat(op.getType(), 0.0));
    return success();
  }
};

} // namespace

void MtcDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  patterns.add<FoldEmptyResults, EraseEmptyWrite, FoldScatterOfNothing>(getContext());
}
