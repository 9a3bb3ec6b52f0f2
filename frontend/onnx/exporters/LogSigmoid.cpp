//===- LogSigmoid.cpp - Numerically stable log-sigmoid ----------------------------------------===//

#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/exporters/Patterns.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_FORMLOGSIGMOIDPASS
#include "frontend/onnx/exporters/Passes.h.inc"

namespace {

/// Log(Sigmoid(x))  =>  mtc.LogSigmoid(x), Log(Sub(1, Sigmoid(x)))  =>  mtc.LogSigmoid(Neg(x))
struct FormLogSigmoid : OpRewritePattern<NodeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NodeOp log, PatternRewriter &rewriter) const override {
    if (!log.isOperator("Log"))
      return failure();
    NodeOp complement = definedBy(log.getInputs()[0], "Sub");
    if (complement && splatOf(complement.getInputs()[0]) != 1.0)
      return rewriter.notifyMatchFailure(log, "is of a difference from something else than 1");
    NodeOp sigmoid =
        definedBy(complement ? complement.getInputs()[1] : log.getInputs()[0], "Sigmoid");
    if (!sigmoid)
      return rewriter.notifyMatchFailure(log, "is of something else than a sigmoid");
    Value x = sigmoid.getInputs()[0];
    if (complement)
      x = NodeOp::create(rewriter, complement.getLoc(), TypeRange{x.getType()}, "Neg",
                         /*version=*/13, StringAttr(), rewriter.getDictionaryAttr({}), x)
              .getResult(0);
    auto stable = NodeOp::create(rewriter, log.getLoc(), log.getResultTypes(), "LogSigmoid",
                                 /*version=*/1, rewriter.getStringAttr("mtc"),
                                 rewriter.getDictionaryAttr({}), x);
    SmallVector<NodeOp> others{sigmoid};
    if (complement)
      others.insert(others.begin(), complement);
    replaceNodes(rewriter, log, stable, others);
    return success();
  }
};

struct FormLogSigmoidPass : impl::FormLogSigmoidPassBase<FormLogSigmoidPass> {
  void runOnOperation() override { applyPattern<FormLogSigmoid>(getOperation()); }
};

} // namespace
} // namespace mtc::onnx
