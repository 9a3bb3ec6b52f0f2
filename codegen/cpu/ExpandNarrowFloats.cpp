//===- ExpandNarrowFloats.cpp - Expands conversions of 16-bit floats --------------------------===//
//
// The pass is for processors without conversion instructions, for which LLVM would call a library
// function per lane. The expansion uses the 16-bit type only in conversions and bitcasts: LLVM
// would compute a select of this type in f32, too.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/passes/Passes.h"

#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mtc {
#define GEN_PASS_DEF_EXPANDNARROWFLOATS
#include "codegen/passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;
using namespace mtc;

namespace {

/// The 16-bit types whose conversions are expanded.
struct Expanded {
  bool bfloat16, float16;

  bool converts(Value wide, Value narrow) const {
    Type element = getElementTypeOrSelf(narrow.getType());
    return getElementTypeOrSelf(wide.getType()).isF32() &&
           ((bfloat16 && element.isBF16()) || (float16 && element.isF16()));
  }
};

Value shiftedBy(ImplicitLocOpBuilder &b, Value bits, int amount, bool left) {
  Value count = splatConstant(b, b.getI32IntegerAttr(amount), bits.getType());
  return left ? Value(arith::ShLIOp::create(b, bits, count))
              : Value(arith::ShRUIOp::create(b, bits, count));
}

/// Shifts the bits to the upper half of an f32.
Value decodeBFloat16(ImplicitLocOpBuilder &b, Value stored) {
  Value bits = arith::ExtUIOp::create(b, withShapeOf(b.getI32Type(), stored.getType()), stored);
  return arith::BitcastOp::create(b, withShapeOf(b.getF32Type(), stored.getType()),
                                  shiftedBy(b, bits, 16, /*left=*/true));
}

/// Rounds to nearest, ties to even. NaN stays NaN.
Value encodeBFloat16(ImplicitLocOpBuilder &b, Value value) {
  auto constant = [&](int32_t number) {
    return splatConstant(b, b.getI32IntegerAttr(number), value.getType());
  };
  Value bits = arith::BitcastOp::create(b, withShapeOf(b.getI32Type(), value.getType()), value);
  Value odd = arith::AndIOp::create(b, shiftedBy(b, bits, 16, /*left=*/false), constant(1));
  Value rounded = arith::AddIOp::create(b, arith::AddIOp::create(b, bits, constant(0x7fff)), odd);
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value result = arith::SelectOp::create(b, isNan, constant(0x7fc00000), rounded);
  return arith::TruncIOp::create(b, withShapeOf(b.getI16Type(), value.getType()),
                                 shiftedBy(b, result, 16, /*left=*/false));
}

template <typename Conversion> struct ExpandConversion : OpRewritePattern<Conversion> {
  ExpandConversion(MLIRContext *context, Expanded expanded)
      : OpRewritePattern<Conversion>(context), expanded(expanded) {}
  Expanded expanded;
};

/// Expands extf(x : f16 or bf16) : f32.
struct ExpandExtension : ExpandConversion<arith::ExtFOp> {
  using ExpandConversion::ExpandConversion;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!expanded.converts(op.getOut(), op.getIn()))
      return rewriter.notifyMatchFailure(op, "no extension that is expanded");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type bits = withShapeOf(b.getI16Type(), op.getType());
    Type narrow = getElementTypeOrSelf(op.getIn().getType());
    Value stored = arith::BitcastOp::create(b, bits, op.getIn());
    rewriter.replaceOp(op, narrow.isBF16() ? decodeBFloat16(b, stored)
                                           : decodeNarrow(b, stored, narrow));
    return success();
  }
};

/// Expands truncf(x : f32) : f16 or bf16.
struct ExpandTruncation : ExpandConversion<arith::TruncFOp> {
  using ExpandConversion::ExpandConversion;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!expanded.converts(op.getIn(), op.getOut()))
      return rewriter.notifyMatchFailure(op, "no truncation that is expanded");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type narrow = getElementTypeOrSelf(op.getType());
    Value bits =
        narrow.isBF16() ? encodeBFloat16(b, op.getIn()) : encodeNarrow(b, op.getIn(), narrow);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bits);
    return success();
  }
};

struct ExpandNarrowFloats : mtc::impl::ExpandNarrowFloatsBase<ExpandNarrowFloats> {
  using ExpandNarrowFloatsBase::ExpandNarrowFloatsBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    Expanded expanded{bfloat16, float16};
    patterns.add<ExpandExtension, ExpandTruncation>(&getContext(), expanded);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
