//===- LogSigmoid.cpp - Numerically stable log-sigmoid ----------------------------------------===//

#include "frontend/exporters/Passes.h"
#include "frontend/exporters/Patterns.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_FORMLOGSIGMOIDPASS
#include "frontend/exporters/Passes.h.inc"

namespace {

/// Log(Sigmoid(x))  =>  mtc.LogSigmoid(x)
struct FormLogSigmoid : OpRewritePattern<NodeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NodeOp log, PatternRewriter &rewriter) const override {
    if (!log.isOperator("Log"))
      return failure();
    NodeOp sigmoid = definedBy(log.getInputs()[0], "Sigmoid");
    if (!sigmoid)
      return rewriter.notifyMatchFailure(log, "is of something else than a sigmoid");
    auto stable = NodeOp::create(rewriter, log.getLoc(), log.getResultTypes(), "LogSigmoid",
                                 /*version=*/1, rewriter.getStringAttr("mtc"),
                                 rewriter.getDictionaryAttr({}), sigmoid.getInputs());
    replaceNodes(rewriter, log, stable, {sigmoid});
    return success();
  }
};

struct FormLogSigmoidPass : impl::FormLogSigmoidPassBase<FormLogSigmoidPass> {
  void runOnOperation() override { applyPattern<FormLogSigmoid>(getOperation()); }
};

} // namespace
} // namespace mtc::onnx
