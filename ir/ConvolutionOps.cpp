//===- ConvolutionOps.cpp - Convolution and its adjoints: checks, calls, gradients ------------===//

#include "ir/Mtc.h"
#include "ir/Shape.h"
#include "ir/TensorBuilder.h"
#include "ir/TypeCode.h"

#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mtc;

//===------------------------------------------------------------------------------------------===//
// Constraints
//===------------------------------------------------------------------------------------------===//

/// convolve_c1.
template <typename Op> static bool haveExtents(Op op) {
  ArrayRef<int64_t> input = shapeOf(op.getInput()), weights = shapeOf(op.getWeights()),
                    output = shapeOf(op.getOutput());
  size_t axes = op.getStrides().size();
  int64_t groups = op.getGroups();
  return axes >= 1 && axes <= MTC_MAX_WINDOW_AXES && op.getBefore().size() == axes &&
         op.getDilations().size() == axes && input.size() == axes + 2 &&
         weights.size() == axes + 2 && output.size() == axes + 2 && input[0] == output[0] &&
         weights[0] == output.back() && weights[0] % groups == 0 &&
         input.back() == weights[1] * groups;
}

template <typename Op> static LogicalResult verifyConvolution(Op op) {
  auto isPositive = [](int64_t v) { return v > 0; };
  if (!isPositive(op.getGroups()) || !llvm::all_of(op.getStrides(), isPositive) ||
      !llvm::all_of(op.getDilations(), isPositive) ||
      llvm::any_of(op.getBefore(), [](int64_t v) { return v < 0; }))
    return op.emitOpError() << "has groups " << op.getGroups() << ", before "
                            << toText(op.getBefore()) << ", strides " << toText(op.getStrides())
                            << " and dilations " << toText(op.getDilations())
                            << ", expected positive numbers, of before at least 0 (convolve_c2)";
  if (!haveExtents(op))
    return op.emitOpError() << "input, weights and output have extents "
                            << toText(shapeOf(op.getInput())) << ", "
                            << toText(shapeOf(op.getWeights())) << " and "
                            << toText(shapeOf(op.getOutput())) << ", expected [N, I.., G * C], "
                            << "[G * M, C, K..] and [N, O.., G * M] for " << op.getGroups()
                            << " groups and " << op.getStrides().size() << " axes of windows, 1 to "
                            << MTC_MAX_WINDOW_AXES << " (convolve_c1)";
  for (size_t i = 0; i < op.getStrides().size(); ++i) {
    int64_t positions = shapeOf(op.getOutput())[1 + i], taps = shapeOf(op.getWeights())[2 + i];
    std::optional<int64_t> first = llvm::checkedMul(positions, op.getStrides()[i]),
                           reach = llvm::checkedMul(taps, op.getDilations()[i]);
    if (!first || !reach || !llvm::checkedAdd(*first, *reach))
      return op.emitOpError() << "along window axis " << i << " the places of " << positions
                              << " windows of " << taps << " taps by stride " << op.getStrides()[i]
                              << " and dilation " << op.getDilations()[i]
                              << " do not fit into 64 bits (convolve_c3)";
  }
  Type element = typeOf(op.getInput()).getElementType();
  if (typeOf(op.getWeights()).getElementType() != element ||
      typeOf(op.getOutput()).getElementType() != element)
    return op.emitOpError() << "element types of input, weights and output differ (convolve_c4)";
  return success();
}

LogicalResult ConvolveOp::verify() { return verifyConvolution(*this); }
LogicalResult TransposedConvolveOp::verify() { return verifyConvolution(*this); }
LogicalResult ConvolveWeightGradientOp::verify() { return verifyConvolution(*this); }

//===------------------------------------------------------------------------------------------===//
// Library calls
//===------------------------------------------------------------------------------------------===//

template <typename Attr, typename Op> static Attr describe(Op op) {
  ArrayRef<int64_t> input = shapeOf(op.getInput()), weights = shapeOf(op.getWeights()),
                    output = shapeOf(op.getOutput());
  MtcConvolution c = {};
  c.type = typeCode(typeOf(op.getInput()).getElementType());
  c.window_rank = op.getStrides().size();
  c.batch = input[0];
  c.groups = op.getGroups();
  c.input_channels = weights[1];
  c.output_channels = weights[0] / op.getGroups();
  llvm::copy(input.slice(1, c.window_rank), c.input);
  llvm::copy(output.slice(1, c.window_rank), c.output);
  llvm::copy(weights.drop_front(2), c.kernel);
  llvm::copy(op.getStrides(), c.strides);
  llvm::copy(op.getDilations(), c.dilations);
  llvm::copy(op.getBefore(), c.before);
  return Attr::get(op.getContext(), c);
}

static bool isDense(Operation *op, unsigned operand, ArrayRef<int64_t> strides) {
  return strides == ArrayRef<int64_t>(rowMajorStrides(shapeOf(op->getOperand(operand))));
}

static SmallVector<int64_t> naturalOrder(Operation *op, unsigned operand) {
  return llvm::to_vector(llvm::seq<int64_t>(0, typeOf(op->getOperand(operand)).getRank()));
}

bool ConvolveOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return isDense(*this, operand, strides);
}
SmallVector<int64_t> ConvolveOp::getDenseOrder(unsigned operand) {
  return naturalOrder(*this, operand);
}
CallAttrInterface ConvolveOp::describeCall(std::optional<unsigned>) {
  return describe<ConvolutionCallAttr>(*this);
}
Cost ConvolveOp::getCost() { return describe<ConvolutionCallAttr>(*this).getCost(); }

bool TransposedConvolveOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return isDense(*this, operand, strides);
}
SmallVector<int64_t> TransposedConvolveOp::getDenseOrder(unsigned operand) {
  return naturalOrder(*this, operand);
}
CallAttrInterface TransposedConvolveOp::describeCall(std::optional<unsigned>) {
  return describe<TransposedConvolutionCallAttr>(*this);
}
Cost TransposedConvolveOp::getCost() {
  return describe<TransposedConvolutionCallAttr>(*this).getCost();
}

bool ConvolveWeightGradientOp::takesLayout(unsigned operand, ArrayRef<int64_t> strides) {
  return isDense(*this, operand, strides);
}
SmallVector<int64_t> ConvolveWeightGradientOp::getDenseOrder(unsigned operand) {
  return naturalOrder(*this, operand);
}
CallAttrInterface ConvolveWeightGradientOp::describeCall(std::optional<unsigned>) {
  return describe<ConvolutionWeightGradientCallAttr>(*this);
}
Cost ConvolveWeightGradientOp::getCost() {
  return describe<ConvolutionWeightGradientCallAttr>(*this).getCost();
}

//===------------------------------------------------------------------------------------------===//
// Gradients
//===------------------------------------------------------------------------------------------===//

/// The operation `To` on the windows of `op`.
template <typename To, typename Op>
static Value along(GradientBuilder &g, Op op, Value like, Value first, Value second) {
  return To::create(g, g.getLoc(), like.getType(), first, second, op.getGroups(), op.getBefore(),
                    op.getStrides(), op.getDilations());
}

void ConvolveOp::buildGradient(GradientBuilder &g) {
  Value d = g.cotangent(0);
  if (g.needs(0))
    g.set(0, along<TransposedConvolveOp>(g, *this, getInput(), d, getWeights()));
  if (g.needs(1))
    g.set(1, along<ConvolveWeightGradientOp>(g, *this, getWeights(), getInput(), d));
}

void TransposedConvolveOp::buildGradient(GradientBuilder &g) {
  Value d = g.cotangent(0);
  if (g.needs(0))
    g.set(0, along<ConvolveOp>(g, *this, getOutput(), d, getWeights()));
  if (g.needs(1))
    g.set(1, along<ConvolveWeightGradientOp>(g, *this, getWeights(), d, getOutput()));
}

void ConvolveWeightGradientOp::buildGradient(GradientBuilder &g) {
  Value d = g.cotangent(0);
  if (g.needs(0))
    g.set(0, along<TransposedConvolveOp>(g, *this, getInput(), getOutput(), d));
  if (g.needs(1))
    g.set(1, along<ConvolveOp>(g, *this, getOutput(), getInput(), d));
}

//===------------------------------------------------------------------------------------------===//
// Canonical form
//===------------------------------------------------------------------------------------------===//

namespace {

/// Whether each position has one element of the input, and all channels are of one group.
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

/// Weights [M, C, 1..] as a matrix.
template <typename Op> Value matrixOf(TensorBuilder &b, Op op) {
  return b.reshape(op.getWeights(), shapeOf(op.getWeights()).take_front(2));
}

/// convolve(x, w) => contract(slice(x), w), where kernels have one tap
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
    rewriter.replaceOp(op, b.contract(x, matrixOf(b, op), {}, {}, {channels}, {1}));
    return success();
  }
};

/// transposed_convolve(y, w) => pad(contract(y, w)), where kernels have one tap
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
    Value x = b.contract(op.getOutput(), matrixOf(b, op), {}, {}, {channels}, {0});
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
