//===- TransposedReshape.cpp - Transposes between two reshapes --------------------------------===//

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/exporters/Patterns.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_MERGERESHAPEDTRANSPOSESPASS
#include "frontend/onnx/exporters/Passes.h.inc"

namespace {

/// Returns whether a transpose of rank 3 swaps the last two axes.
bool swapsLastOfThree(NodeOp transpose) {
  return inferredShape(transpose.getInputs()[0]).size() == 3 &&
         NodeView(transpose).axes("perm", 3) == SmallVector<int64_t>{0, 2, 1};
}

/// Reshape(Transpose(Reshape(x, [G, T, D]), [0, 2, 1]), [.., D, T])  =>  Transpose(x, [.., D, T])
struct MergeReshapedTranspose : OpRewritePattern<NodeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NodeOp last, PatternRewriter &rewriter) const override {
    if (!last.isOperator("Reshape"))
      return failure();
    NodeOp transpose = definedBy(last.getInputs()[0], "Transpose");
    if (!transpose || !swapsLastOfThree(transpose))
      return rewriter.notifyMatchFailure(last, "is not of a transpose of three axes");
    NodeOp first = definedBy(transpose.getInputs()[0], "Reshape");
    if (!first)
      return rewriter.notifyMatchFailure(transpose, "is not of a reshape");
    Value x = first.getInputs()[0];
    ArrayRef<int64_t> from = inferredShape(x), merged = inferredShape(first.getResult(0)),
                      to = inferredShape(last.getResult(0));
    if (from.size() < 3 || from.size() != to.size() || from.drop_back(2) != to.drop_back(2))
      return rewriter.notifyMatchFailure(last, "gives other leading axes than there were");
    bool keepsMatrices = from.take_back(2) == merged.take_back(2);
    bool isSwapped = to.take_back(2)[0] == from.back() && to.back() == from.take_back(2)[0];
    if (!keepsMatrices || !isSwapped)
      return rewriter.notifyMatchFailure(last, "mixes the matrices' axes with the leading ones");
    auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, from.size()));
    std::swap(permutation.back(), permutation[permutation.size() - 2]);
    NamedAttribute attribute =
        rewriter.getNamedAttr("perm", rewriter.getDenseI64ArrayAttr(permutation));
    auto swapped = NodeOp::create(rewriter, transpose.getLoc(), last.getResultTypes(), "Transpose",
                                  transpose.getVersion(), StringAttr(),
                                  rewriter.getDictionaryAttr(attribute), x);
    replaceNodes(rewriter, last, swapped, {transpose, first});
    return success();
  }
};

struct MergeReshapedTransposesPass
    : impl::MergeReshapedTransposesPassBase<MergeReshapedTransposesPass> {
  void runOnOperation() override { applyPattern<MergeReshapedTranspose>(getOperation()); }
};

} // namespace
} // namespace mtc::onnx
