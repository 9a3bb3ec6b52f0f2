//===- MathApproximation.cpp - Approximates f32 math functions by polynomials -----------------===//
//
// Maximum errors relative to the C library, in ULP: exp 1, expm1 2, log 1, log1p 2, log2 2, tanh 5,
// erf 3, erfc 3, asin 5, acos 1, atan 3, sin and cos 2 (for |x| < 10^6). MLIR's own arctangent is
// up to 41 ULP off below 0.66. Functions that are not listed have no approximation of this quality
// and call the C library.
//
//===------------------------------------------------------------------------------------------===//

#include "codegen/passes/Passes.h"

#include "codegen/kernels/Storage.h"

#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mtc {
#define GEN_PASS_DEF_APPROXIMATEMATH
#include "codegen/passes/Passes.h.inc"
} // namespace mtc

using namespace mlir;

namespace {

/// Evaluates a polynomial, whose coefficients begin with that of the highest power.
Value evaluate(ImplicitLocOpBuilder &b, Value x, ArrayRef<float> coefficients) {
  auto f32 = [&](float value) {
    return mtc::splatConstant(b, b.getF32FloatAttr(value), x.getType());
  };
  Value sum = f32(coefficients.front());
  for (float coefficient : coefficients.drop_front())
    sum = math::FmaOp::create(b, sum, x, f32(coefficient));
  return sum;
}

/// Computes atan x from an angle of at most pi/8 to 0, pi/4 or pi/2, with the polynomial of Cephes'
/// atanf (S. Moshier).
struct ApproximateArctangent : OpRewritePattern<math::AtanOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::AtanOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "only f32 is approximated");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto f32 = [&](float value) { return mtc::splatConstant(b, b.getF32FloatAttr(value), type); };
    Value x = math::AbsFOp::create(b, op.getOperand());
    auto isAbove = [&](float bound) -> Value { // False for NaN, which remains.
      return arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, f32(bound));
    };
    auto select = [&](Value isTrue, Value a, Value other) -> Value {
      return arith::SelectOp::create(b, isTrue, a, other);
    };
    Value isMiddle = isAbove(0x1.a8279ap-2f), isLarge = isAbove(0x1.3504f4p+1f); // tan(pi/8, 3pi/8)
    Value one = f32(1), minusOne = f32(-1);
    // tan of the angle: x, (x - 1) / (x + 1) or -1 / x
    Value numerator = select(
        isLarge, minusOne, select(isMiddle, arith::AddFOp::create(b, x, minusOne).getResult(), x));
    Value denominator =
        select(isLarge, x, select(isMiddle, arith::AddFOp::create(b, x, one).getResult(), one));
    Value start =
        select(isLarge, f32(0x1.921fb6p+0f), select(isMiddle, f32(0x1.921fb6p-1f), f32(0)));
    Value t = arith::DivFOp::create(b, numerator, denominator);
    Value z = arith::MulFOp::create(b, t, t), cube = arith::MulFOp::create(b, t, z);
    Value series = evaluate(
        b, z, {8.05374449538e-2f, -1.38776856032e-1f, 1.99777106478e-1f, -3.33329491539e-1f});
    Value angle = arith::AddFOp::create(b, start, math::FmaOp::create(b, cube, series, t));
    rewriter.replaceOpWithNewOp<math::CopySignOp>(op, angle, op.getOperand());
    return success();
  }
};

/// Computes sin x and cos x with x = k pi/2 + r, |r| <= pi/4. The range reduction is in f64; r is
/// evaluated with the polynomials of Cephes' sinf and cosf (S. Moshier).
template <typename Op, bool isCosine> struct ApproximateSine : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "only f32 is approximated");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type single = op.getType(), wide = mtc::withShapeOf(b.getF64Type(), single);
    auto f64 = [&](double value) {
      return mtc::splatConstant(b, b.getF64FloatAttr(value), single);
    };

    Value x = arith::ExtFOp::create(b, wide, op.getOperand());
    Value turns = arith::MulFOp::create(b, x, f64(0x1.45f306dc9c883p-1));
    Value k = math::RoundEvenOp::create(b, turns);
    // pi/2 is represented as the sum of two numbers.
    Value r = math::FmaOp::create(b, k, f64(-0x1.921fb54442d18p+0), x);
    r = math::FmaOp::create(b, k, f64(-0x1.1a62633145c07p-54), r);
    Value y = arith::TruncFOp::create(b, single, r);
    Value z = arith::MulFOp::create(b, y, y);

    Value cube = arith::MulFOp::create(b, y, z);
    Value sine = math::FmaOp::create(
        b, cube, evaluate(b, z, {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f}), y);
    Value cosine = evaluate(
        b, z, {2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f, -0.5f, 1.0f});

    // Computes the quadrant, 0 to 3. A cosine is a sine shifted by one quadrant.
    Value quadrant = isCosine ? arith::AddFOp::create(b, k, f64(1)).getResult() : k;
    Value whole = math::FloorOp::create(b, arith::MulFOp::create(b, quadrant, f64(0.25)));
    quadrant = math::FmaOp::create(b, whole, f64(-4), quadrant);
    auto is = [&](double value) {
      return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, quadrant, f64(value));
    };
    Value isOdd = arith::OrIOp::create(b, is(1), is(3));
    Value isNegative = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, quadrant, f64(2));
    Value magnitude = arith::SelectOp::create(b, isOdd, cosine, sine);
    Value negated = arith::NegFOp::create(b, magnitude);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNegative, negated, magnitude);
    return success();
  }
};

struct ApproximateMath : mtc::impl::ApproximateMathBase<ApproximateMath> {
  void runOnOperation() override {
    static const StringRef approximated[] = {
        math::ExpOp::getOperationName(),  math::ExpM1Op::getOperationName(),
        math::LogOp::getOperationName(),  math::Log1pOp::getOperationName(),
        math::Log2Op::getOperationName(), math::TanhOp::getOperationName(),
        math::ErfOp::getOperationName(),  math::ErfcOp::getOperationName(),
        math::AsinOp::getOperationName(), math::AcosOp::getOperationName()};
    RewritePatternSet patterns(&getContext());
    populateMathAlgebraicSimplificationPatterns(patterns);
    populateMathPolynomialApproximationPatterns(
        patterns, [](StringRef name) { return llvm::is_contained(approximated, name); });
    patterns.add<ApproximateSine<math::SinOp, false>, ApproximateSine<math::CosOp, true>,
                 ApproximateArctangent>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
