//===- ElementwiseOps.cpp - Kernels and folders of elementwise operations ---------------------===//

#include "ir/Mtc.h"
#include "ir/builders/KernelBuilder.h"
#include "ir/builders/TensorBuilder.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mtc;

Operation *mtc::detail::buildElementwiseKernel(Operation *op, OpBuilder &builder) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  KernelBuilder kernel(builder, op, shape);
  SmallVector<AffineExpr> index;
  for (size_t i = 0; i < shape.size(); ++i)
    index.push_back(kernel.dim(i));
  SmallVector<Value> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(kernel.load(i, index));
  Value result =
      cast<ElementwiseOpInterface>(op).buildScalar(kernel.body(), op->getLoc(), operands);
  return kernel.yield(result, {index});
}

//===------------------------------------------------------------------------------------------===//
// Folding
//===------------------------------------------------------------------------------------------===//

namespace {

/// Returns the element of a splat constant; null for other attributes.
Attribute splatOf(Attribute constant) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(constant);
  return elements && elements.isSplat() ? elements.getSplatValue<Attribute>() : Attribute();
}

bool isSplat(Attribute constant, double value) {
  Attribute element = splatOf(constant);
  if (auto number = dyn_cast_or_null<FloatAttr>(element))
    return number.getValueAsDouble() == value;
  if (auto number = dyn_cast_or_null<IntegerAttr>(element))
    return number.getValue() == APInt(number.getValue().getBitWidth(), static_cast<int64_t>(value),
                                      /*isSigned=*/true, /*implicitTrunc=*/true);
  return false;
}

/// Applies a function of floats or of integers to the elements of splat constants.
OpFoldResult foldSplats(Type type, ArrayRef<Attribute> operands,
                        llvm::function_ref<APFloat(const APFloat &, const APFloat &)> onFloat,
                        llvm::function_ref<APInt(const APInt &, const APInt &)> onInteger) {
  Attribute lhs = splatOf(operands[0]), rhs = splatOf(operands[1]);
  if (!lhs || !rhs)
    return {};
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element))
    return DenseElementsAttr::get(cast<ShapedType>(type), onFloat(cast<FloatAttr>(lhs).getValue(),
                                                                  cast<FloatAttr>(rhs).getValue()));
  return DenseElementsAttr::get(
      cast<ShapedType>(type),
      onInteger(cast<IntegerAttr>(lhs).getValue(), cast<IntegerAttr>(rhs).getValue()));
}

} // namespace

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  // -(-x) => x
  if (auto inner = getInput().getDefiningOp<NegOp>())
    return inner.getInput();
  if (Attribute element = splatOf(adaptor.getInput())) {
    if (auto number = dyn_cast<FloatAttr>(element))
      return DenseElementsAttr::get(getType(), neg(number.getValue()));
    return DenseElementsAttr::get(getType(), -cast<IntegerAttr>(element).getValue());
  }
  return {};
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  Attribute element = splatOf(adaptor.getInput());
  if (!element)
    return {};
  Type from = getInput().getType().getElementType(), to = getType().getElementType();
  if (auto target = dyn_cast<FloatType>(to)) {
    APFloat value(target.getFloatSemantics());
    if (auto number = dyn_cast<FloatAttr>(element)) {
      value = number.getValue();
      bool losesInformation;
      value.convert(target.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInformation);
    } else {
      bool isSigned = !isUnsigned(from) && !from.isInteger(1);
      value.convertFromAPInt(cast<IntegerAttr>(element).getValue(), isSigned,
                             APFloat::rmNearestTiesToEven);
    }
    return DenseElementsAttr::get(getType(), value);
  }
  auto number = dyn_cast<IntegerAttr>(element);
  if (!number)
    return {};
  if (to.isInteger(1))
    return DenseElementsAttr::get(getType(), APInt(1, !number.getValue().isZero()));
  unsigned width = to.getIntOrFloatBitWidth();
  bool zeroExtends = isUnsigned(from) || from.isInteger(1);
  return DenseElementsAttr::get(getType(), zeroExtends ? number.getValue().zextOrTrunc(width)
                                                       : number.getValue().sextOrTrunc(width));
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // x + 0 => x (constants of commutative operations are on the right). For floats, this turns -0 +
  // 0 into -0; the sign of a zero sum is not observable.
  if (isSplat(adaptor.getRhs(), 0))
    return getLhs();
  return foldSplats(
      getType(), adaptor.getOperands(), [](const APFloat &a, const APFloat &b) { return a + b; },
      [](const APInt &a, const APInt &b) { return a + b; });
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  // x - 0 => x
  if (isSplat(adaptor.getRhs(), 0))
    return getLhs();
  return foldSplats(
      getType(), adaptor.getOperands(), [](const APFloat &a, const APFloat &b) { return a - b; },
      [](const APInt &a, const APInt &b) { return a - b; });
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  // x * 1 => x
  if (isSplat(adaptor.getRhs(), 1))
    return getLhs();
  return foldSplats(
      getType(), adaptor.getOperands(), [](const APFloat &a, const APFloat &b) { return a * b; },
      [](const APInt &a, const APInt &b) { return a * b; });
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  // x / 1 => x
  if (isSplat(adaptor.getRhs(), 1))
    return getLhs();
  if (!isa<FloatType>(getType().getElementType()))
    return {};
  return foldSplats(
      getType(), adaptor.getOperands(), [](const APFloat &a, const APFloat &b) { return a / b; },
      [](const APInt &a, const APInt &b) { return a; });
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse())
    return getOnTrue();
  if (Attribute element = splatOf(adaptor.getCondition()))
    return cast<IntegerAttr>(element).getValue().isZero() ? getOnFalse() : getOnTrue();
  return {};
}

bool DivOp::isUnbounded() {
  DenseElementsAttr divisor;
  return !matchPattern(getRhs(), m_Constant(&divisor)) || !divisor.isSplat() || isSplat(divisor, 0);
}

OpFoldResult SelectByModeOp::fold(FoldAdaptor) {
  return getTraining() == getInference() ? getTraining() : Value();
}

//===------------------------------------------------------------------------------------------===//
// Canonicalization
//===------------------------------------------------------------------------------------------===//

namespace {

/// pow(x, c) => multiplications and roots, for the exponents that are common in models. The
/// expansion is exact where the general function is not, and is always vectorized.
struct ExpandConstantPower : OpRewritePattern<PowOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PowOp op, PatternRewriter &rewriter) const override {
    DenseElementsAttr exponent;
    if (!matchPattern(op.getRhs(), m_Constant(&exponent)) || !exponent.isSplat())
      return rewriter.notifyMatchFailure(op, "the exponent is no splat constant");
    double c = exponent.getSplatValue<FloatAttr>().getValueAsDouble();
    TensorBuilder b(op.getLoc(), rewriter);
    Value x = op.getLhs(), result;
    if (c == 1)
      result = x;
    else if (c == 2)
      result = b.mul(x, x);
    else if (c == 3)
      result = b.mul(b.mul(x, x), x);
    else if (c == 4)
      result = b.mul(b.mul(x, x), b.mul(x, x));
    else if (c == -1)
      result = b.div(b.splat(x, 1.0), x);
    else if (c == 0.5)
      result = b.sqrt(x);
    else if (c == -0.5)
      result = b.rsqrt(x);
    else
      return rewriter.notifyMatchFailure(op, "the exponent is none of 1, 2, 3, 4, -1, 1/2, -1/2");
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// For y = select(x <= c, c, x), x <= c is equivalent to y <= c. Later users of the comparison,
/// such as the gradient of a ReLU, use y, so that the live range of x is not extended.
struct AskClampedValue : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    auto compare = op.getCondition().getDefiningOp<CompareOp>();
    if (!compare || compare.getPredicate() != Predicate::Le ||
        compare.getLhs() != op.getOnFalse() || compare.getRhs() != op.getOnTrue())
      return rewriter.notifyMatchFailure(op, "no value clamped from below");
    auto isLater = [&](OpOperand &use) {
      return use.getOwner()->getBlock() == op->getBlock() && op->isBeforeInBlock(use.getOwner());
    };
    if (llvm::none_of(compare->getUses(), isLater))
      return rewriter.notifyMatchFailure(op, "nothing asks later");
    rewriter.setInsertionPointAfter(op);
    Value asked = CompareOp::create(rewriter, compare.getLoc(), compare.getType(), Predicate::Le,
                                    op.getResult(), op.getOnTrue());
    rewriter.replaceUsesWithIf(compare.getResult(), asked, isLater);
    return success();
  }
};

} // namespace

void PowOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ExpandConstantPower>(context);
}

void SelectOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AskClampedValue>(context);
}
