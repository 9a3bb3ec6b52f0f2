//===- ConvolutionOps.cpp - Convolution and its adjoints: verifiers, calls, gradients ---------===//

#include "ir/ops/Convolution.h"

using namespace mlir;
using namespace mtc;

//===------------------------------------------------------------------------------------------===//
// Constraints
//===------------------------------------------------------------------------------------------===//

LogicalResult ConvolveOp::verify() { return verifyConvolution(*this); }
LogicalResult TransposedConvolveOp::verify() { return verifyConvolution(*this); }
LogicalResult ConvolveWeightGradientOp::verify() { return verifyConvolution(*this); }

//===------------------------------------------------------------------------------------------===//
// Library calls
//===------------------------------------------------------------------------------------------===//

template <typename Attr, typename Op> static Attr callOf(Op op) {
  return Attr::get(op.getContext(), describeConvolution(op));
}

bool ConvolveOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return isDense(*this, operand, strides);
}
SmallVector<int64_t> ConvolveOp::getDenseOrder(unsigned operand) {
  return naturalOrder(*this, operand);
}
CallAttrInterface ConvolveOp::describeCall(std::optional<unsigned>) {
  return callOf<ConvolutionCallAttr>(*this);
}
Cost ConvolveOp::getCost() { return callOf<ConvolutionCallAttr>(*this).getCost(); }

bool TransposedConvolveOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return isDense(*this, operand, strides);
}
SmallVector<int64_t> TransposedConvolveOp::getDenseOrder(unsigned operand) {
  return naturalOrder(*this, operand);
}
CallAttrInterface TransposedConvolveOp::describeCall(std::optional<unsigned>) {
  return callOf<TransposedConvolutionCallAttr>(*this);
}
Cost TransposedConvolveOp::getCost() {
  return callOf<TransposedConvolutionCallAttr>(*this).getCost();
}

bool ConvolveWeightGradientOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return isDense(*this, operand, strides);
}
SmallVector<int64_t> ConvolveWeightGradientOp::getDenseOrder(unsigned operand) {
  return naturalOrder(*this, operand);
}
CallAttrInterface ConvolveWeightGradientOp::describeCall(std::optional<unsigned>) {
  return callOf<ConvolutionWeightGradientCallAttr>(*this);
}
Cost ConvolveWeightGradientOp::getCost() {
  return callOf<ConvolutionWeightGradientCallAttr>(*this).getCost();
}

//===------------------------------------------------------------------------------------------===//
// Gradients
//===------------------------------------------------------------------------------------------===//

/// Returns the result's cotangent in the element type of the operands, with which it is contracted.
template <typename Op> static Value cotangentOf(GradientBuilder &g, Op op) {
  return g.cast(g.cotangent(0), typeOf(op->getOperand(0)).getElementType());
}

/// Builds operation `To` with the window attributes of `op`.
template <typename To, typename Op>
static Value along(GradientBuilder &g, Op op, Value like, Value first, Value second) {
  return To::create(g, g.getLoc(), like.getType(), first, second, op.getGroups(), op.getBefore(),
                    op.getStrides(), op.getDilations());
}

void ConvolveOp::buildGradient(GradientBuilder &g) {
  Value d = cotangentOf(g, *this);
  if (g.needs(0))
    g.set(0, along<TransposedConvolveOp>(g, *this, getInput(), d, getWeights()));
  if (g.needs(1))
    g.set(1, along<ConvolveWeightGradientOp>(g, *this, getWeights(), getInput(), d));
}

void TransposedConvolveOp::buildGradient(GradientBuilder &g) {
  Value d = cotangentOf(g, *this);
  if (g.needs(0))
    g.set(0, along<ConvolveOp>(g, *this, getOutput(), d, getWeights()));
  if (g.needs(1))
    g.set(1, along<ConvolveWeightGradientOp>(g, *this, getWeights(), d, getOutput()));
}

void ConvolveWeightGradientOp::buildGradient(GradientBuilder &g) {
  Value d = cotangentOf(g, *this);
  if (g.needs(0))
    g.set(0, along<TransposedConvolveOp>(g, *this, getInput(), getOutput(), d));
  if (g.needs(1))
    g.set(1, along<ConvolveOp>(g, *this, getOutput(), getInput(), d));
}

//===------------------------------------------------------------------------------------------===//
// Canonicalization
//===------------------------------------------------------------------------------------------===//

namespace {

/// Returns whether each output position reads one element of the input, and there is one group.
template <typename Op> bool isPointwise(Op op) {
  auto kernel = shapeOf(op.getWeights()).drop_front(2);
  if (op.getGroups() != 1 || llvm::any_of(kernel, [](int64_t extent) { return extent != 1; }) ||
      llvm::any_of(op.getBefore(), [](int64_t before) { return before != 0; }))
    return false;
  for (auto [i, stride] : llvm::enumerate(op.getStrides()))
    if ((shapeOf(op.getOutput())[1 + i] - 1) * stride >= shapeOf(op.getInput())[1 + i])
      return false;
  return true;
}

/// Reshapes weights [M, C, 1..] to a matrix.
template <typename Op> Value matrixOf(TensorBuilder &b, Op op) {
  return b.reshape(op.getWeights(), shapeOf(op.getWeights()).take_front(2));
}

/// convolve(x, w) => contract(slice(x), w), for kernels with one tap.
struct PointwiseConvolveIsContraction : OpRewritePattern<ConvolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolveOp op, PatternRewriter &rewriter) const override {
    if (!isPointwise(op))
      return rewriter.notifyMatchFailure(op, "a position has several taps, or channels in groups");
    TensorBuilder b(op.getLoc(), rewriter);
    int64_t channels = op.getStrides().size() + 1;
    SmallVector<int64_t> sizes(shapeOf(op.getOutput())), strides{1};
    sizes.back() = shapeOf(op.getInput()).back();
    llvm::append_range(strides, op.getStrides());
    strides.push_back(1);
    Value x = b.slice(op.getInput(), SmallVector<int64_t>(sizes.size(), 0), sizes, strides);
    rewriter.replaceOp(op, b.contract(x, matrixOf(b, op), {}, {}, {channels}, {1},
                                      typeOf(op.getOutput()).getElementType()));
    return success();
  }
};

/// transposed_convolve(y, w) => pad(contract(y, w)), for kernels with one tap.
struct PointwiseTransposedConvolveIsContraction : OpRewritePattern<TransposedConvolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposedConvolveOp op, PatternRewriter &rewriter) const override {
    if (!isPointwise(op))
      return rewriter.notifyMatchFailure(op, "a position has several taps, or channels in groups");
    TensorBuilder b(op.getLoc(), rewriter);
    int64_t channels = op.getStrides().size() + 1;
    SmallVector<int64_t> low(channels + 1, 0), high(low), interior(low);
    for (auto [i, stride] : llvm::enumerate(op.getStrides())) {
      int64_t positions = shapeOf(op.getOutput())[1 + i], extent = shapeOf(op.getInput())[1 + i];
      interior[1 + i] = stride - 1;
      high[1 + i] = positions ? extent - (positions - 1) * stride - 1 : extent;
    }
    Value x = b.contract(op.getOutput(), matrixOf(b, op), {}, {}, {channels}, {0},
                         typeOf(op.getInput()).getElementType());
    rewriter.replaceOp(op, b.pad(x, low, high, interior));
    return success();
  }
};

} // namespace

void ConvolveOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<PointwiseConvolveIsContraction>(context);
}

void TransposedConvolveOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                       MLIRContext *context) {
  patterns.add<PointwiseTransposedConvolveIsContraction>(context);
}
