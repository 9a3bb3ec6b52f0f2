//===- ExpandFloat16.cpp - Conversions of f16 by integers -------------------------------------===//
//
// For processors without instructions for them: LLVM would call a function for each lane.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/passes/Passes.h"

#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mtc {
#define GEN_PASS_DEF_EXPANDFLOAT16
#include "codegen/passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

bool converts(Value wide, Value narrow) {
  return getElementTypeOrSelf(wide.getType()).isF32() &&
         getElementTypeOrSelf(narrow.getType()).isF16();
}

/// extf(x : f16) : f32
struct ExpandExtension : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!converts(op.getOut(), op.getIn()))
      return rewriter.notifyMatchFailure(op, "no extension of f16 to f32");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type bits = withShapeOf(b.getI16Type(), op.getType());
    Value stored = arith::BitcastOp::create(b, bits, op.getIn());
    rewriter.replaceOp(op, decodeNarrow(b, stored, b.getF16Type()));
    return success();
  }
};

/// truncf(x : f32) : f16
struct ExpandTruncation : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!converts(op.getIn(), op.getOut()))
      return rewriter.notifyMatchFailure(op, "no truncation of f32 to f16");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value bits = encodeNarrow(b, op.getIn(), b.getF16Type());
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};

struct ExpandFloat16 : mtc::impl::ExpandFloat16Base<ExpandFloat16> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExtension, ExpandTruncation>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
