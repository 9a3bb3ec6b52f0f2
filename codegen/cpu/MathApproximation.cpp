//===- MathApproximation.cpp - Functions of math on f32 by polynomials
//--------------------------===//

#include "codegen/Passes.h"

#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mtc {
#define GEN_PASS_DEF_APPROXIMATEMATH
#include "codegen/Passes.h.inc"
} // namespace mtc

using namespace mlir;

namespace {

struct ApproximateMath : mtc::impl::ApproximateMathBase<ApproximateMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
