//===- SafeSoftmax.cpp - Softmax guarded against fully masked rows ----------------------------===//

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/exporters/Patterns.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_FORMSAFESOFTMAXPASS
#include "frontend/onnx/exporters/Passes.h.inc"

namespace {

bool isZero(NodeOp node, size_t operand) {
  std::optional<SmallVector<double>> values = NodeView(node).constantFloats(operand);
  return values && llvm::all_of(*values, [](double value) { return value == 0; });
}

/// Returns the axis that a softmax normalizes, or nullopt if it normalizes several axes jointly.
/// Before version 13, Softmax normalizes all axes from `axis` on.
std::optional<int64_t> normalizedAxis(NodeOp softmax) {
  bool joinsAxes = softmax.getVersion() < 13;
  int64_t rank = inferredShape(softmax.getInputs()[0]).size();
  int64_t axis = NodeView(softmax).integer("axis", joinsAxes ? 1 : -1);
  axis = axis < 0 ? axis + rank : axis;
  if (axis < 0 || axis >= rank || (joinsAxes && axis != rank - 1))
    return std::nullopt;
  return axis;
}

/// Where(c, 0, lowest)  =>  Where(c, 0, -inf), for masks that are added to scores. Returns null for
/// other values.
Value infiniteMask(Value value, PatternRewriter &rewriter) {
  NodeOp where = definedBy(value, "Where");
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
  if (!where || !element)
    return {};
  double lowest =
      APFloat::getLargest(element.getFloatSemantics(), /*Negative=*/true).convertToDouble();
  if (splatOf(where.getInputs()[1]) != 0.0 || splatOf(where.getInputs()[2]) != lowest)
    return {};
  auto scalar = RankedTensorType::get({}, element);
  APFloat infinity = APFloat::getInf(element.getFloatSemantics(), /*Negative=*/true);
  auto constant = ConstantOp::create(rewriter, where.getLoc(), scalar,
                                     DenseElementsAttr::get(scalar, infinity));
  SmallVector<Value> operands{where.getInputs()[0], where.getInputs()[1], constant};
  return NodeOp::create(rewriter, where.getLoc(), where.getResultTypes(), "Where",
                        where.getVersion(), StringAttr(), rewriter.getDictionaryAttr({}), operands)
      .getResult(0);
}

/// s = Softmax(x), Where(IsNaN(s), 0, s)  =>  mtc.SafeSoftmax(x)
struct FormSafeSoftmax : OpRewritePattern<NodeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NodeOp where, PatternRewriter &rewriter) const override {
    if (!where.isOperator("Where") || where.getInputs().size() != 3)
      return failure();
    Value kept = where.getInputs()[2];
    NodeOp softmax = definedBy(kept, "Softmax"), isNaN = definedBy(where.getInputs()[0], "IsNaN");
    if (!softmax || !isNaN || isNaN.getInputs().front() != kept)
      return rewriter.notifyMatchFailure(where, "chooses by something else than NaN of a softmax");
    if (where.getResult(0).getType() != kept.getType() || !isZero(where, 1))
      return rewriter.notifyMatchFailure(where, "puts something else than zero in its place");
    std::optional<int64_t> axis = normalizedAxis(softmax);
    if (!axis)
      return rewriter.notifyMatchFailure(softmax, "normalizes several axes together");
    if (NodeOp add = definedBy(softmax.getInputs()[0], "Add"); add && add->hasOneUse())
      for (unsigned i : {0, 1}) {
        rewriter.setInsertionPoint(add);
        if (Value mask = infiniteMask(add.getInputs()[i], rewriter))
          rewriter.modifyOpInPlace(add, [&] { add->setOperand(i, mask); });
      }
    rewriter.setInsertionPoint(where);
    auto integer = rewriter.getIntegerType(64, /*isSigned=*/true);
    NamedAttribute attribute =
        rewriter.getNamedAttr("axis", rewriter.getIntegerAttr(integer, *axis));
    auto safe = NodeOp::create(rewriter, softmax.getLoc(), where.getResultTypes(), "SafeSoftmax",
                               /*version=*/1, rewriter.getStringAttr("mtc"),
                               rewriter.getDictionaryAttr(attribute), softmax.getInputs());
    replaceNodes(rewriter, where, safe, {isNaN, softmax});
    return success();
  }
};

struct FormSafeSoftmaxPass : impl::FormSafeSoftmaxPassBase<FormSafeSoftmaxPass> {
  void runOnOperation() override { applyPattern<FormSafeSoftmax>(getOperation()); }
};

} // namespace
} // namespace mtc::onnx
