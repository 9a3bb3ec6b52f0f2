//===- TorchFunctions.cpp - Functions of PyTorch that exporters decompose ---------------------===//

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/exporters/Patterns.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_FORMTORCHFUNCTIONSPASS
#include "frontend/onnx/exporters/Passes.h.inc"

namespace {

/// Replaces a node by a node of the domain `mtc` with two operands.
LogicalResult replaceBy(PatternRewriter &rewriter, NodeOp node, StringRef opType, Value a,
                        Value b) {
  rewriter.replaceOpWithNewOp<NodeOp>(node, node.getResultTypes(), opType, /*version=*/1,
                                      rewriter.getStringAttr("mtc"), rewriter.getDictionaryAttr({}),
                                      ValueRange{a, b});
  return success();
}

/// Returns x of a comparison with the constant 0, such as Equal(x, 0), or null.
Value comparedToZero(Value condition, StringRef opType) {
  NodeOp node = definedBy(condition, opType);
  return node && splatOf(node.getInputs()[1]) == 0.0 ? node.getInputs()[0] : Value();
}

/// Where(Equal(x, 0), x, Where(IsNaN(y), y, Mul(x, Log(y))))  =>  mtc.XLogY(x, y)
struct FormXLogY : OpRewritePattern<NodeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NodeOp where, PatternRewriter &rewriter) const override {
    if (!where.isOperator("Where"))
      return failure();
    Value x = where.getInputs()[1];
    NodeOp inner = definedBy(where.getInputs()[2], "Where");
    if (!inner || comparedToZero(where.getInputs()[0], "Equal") != x)
      return rewriter.notifyMatchFailure(where, "is no guard of x = 0");
    Value y = inner.getInputs()[1];
    NodeOp isNaN = definedBy(inner.getInputs()[0], "IsNaN");
    NodeOp product = definedBy(inner.getInputs()[2], "Mul");
    NodeOp log = product ? definedBy(product.getInputs()[1], "Log") : NodeOp();
    if (!isNaN || isNaN.getInputs()[0] != y || !log || log.getInputs()[0] != y ||
        product.getInputs()[0] != x)
      return rewriter.notifyMatchFailure(where, "does not choose x log y");
    return replaceBy(rewriter, where, "XLogY", x, y);
  }
};

/// Log(Add(Exp(a), Exp(b)))  =>  mtc.LogAddExp(a, b)
struct FormLogAddExp : OpRewritePattern<NodeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NodeOp log, PatternRewriter &rewriter) const override {
    if (!log.isOperator("Log"))
      return failure();
    NodeOp add = definedBy(log.getInputs()[0], "Add");
    NodeOp a = add ? definedBy(add.getInputs()[0], "Exp") : NodeOp(),
           b = add ? definedBy(add.getInputs()[1], "Exp") : NodeOp();
    if (!a || !b)
      return rewriter.notifyMatchFailure(log, "is of something else than a sum of exponentials");
    return replaceBy(rewriter, log, "LogAddExp", a.getInputs()[0], b.getInputs()[0]);
  }
};

/// a = Atan(Div(y, x)), Where(Less(x, 0), Where(Greater(y, 0), Add(a, pi), Sub(a, pi)), a)
///   =>  mtc.Atan2(y, x)
struct FormAtan2 : OpRewritePattern<NodeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NodeOp where, PatternRewriter &rewriter) const override {
    if (!where.isOperator("Where"))
      return failure();
    Value angle = where.getInputs()[2];
    NodeOp atan = definedBy(angle, "Atan");
    NodeOp ratio = atan ? definedBy(atan.getInputs()[0], "Div") : NodeOp();
    NodeOp turned = definedBy(where.getInputs()[1], "Where");
    if (!ratio || !turned)
      return rewriter.notifyMatchFailure(where, "does not choose an angle");
    Value y = ratio.getInputs()[0], x = ratio.getInputs()[1];
    NodeOp up = definedBy(turned.getInputs()[1], "Add"),
           down = definedBy(turned.getInputs()[2], "Sub");
    if (!up || !down || up.getInputs()[0] != angle || down.getInputs()[0] != angle ||
        comparedToZero(where.getInputs()[0], "Less") != x ||
        comparedToZero(turned.getInputs()[0], "Greater") != y)
      return rewriter.notifyMatchFailure(where, "does not turn the angle by the quadrant");
    return replaceBy(rewriter, where, "Atan2", y, x);
  }
};

/// z = Where(Less(w, a), a, w), w = Where(Greater(b, x), x, b), Log(Div(z, Sub(1, z)))
///   =>  the same with GreaterOrEqual: PyTorch's logit has the derivative of the formula at x = b.
struct FormClippedLogit : OpRewritePattern<NodeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NodeOp log, PatternRewriter &rewriter) const override {
    if (!log.isOperator("Log"))
      return failure();
    NodeOp div = definedBy(log.getInputs()[0], "Div");
    NodeOp sub = div ? definedBy(div.getInputs()[1], "Sub") : NodeOp();
    if (!sub || splatOf(sub.getInputs()[0]) != 1.0 || sub.getInputs()[1] != div.getInputs()[0])
      return rewriter.notifyMatchFailure(log, "is of something else than odds");
    NodeOp low = definedBy(div.getInputs()[0], "Where");
    NodeOp high = low ? definedBy(low.getInputs()[2], "Where") : NodeOp();
    NodeOp greater = high ? definedBy(high.getInputs()[0], "Greater") : NodeOp();
    if (!greater || greater.getInputs()[0] != high.getInputs()[2] ||
        greater.getInputs()[1] != high.getInputs()[1])
      return rewriter.notifyMatchFailure(log, "is not clipped");
    rewriter.setInsertionPoint(high);
    auto condition = NodeOp::create(
        rewriter, greater.getLoc(), greater.getResultTypes(), "GreaterOrEqual",
        /*version=*/16, StringAttr(), rewriter.getDictionaryAttr({}), greater.getInputs());
    rewriter.modifyOpInPlace(high, [&] { high->setOperand(0, condition.getResult(0)); });
    return success();
  }
};

/// s = ReduceSum(x²), t = ReduceSum(y²), Div(d, Max(Sqrt(Mul(s, t)), eps))
///   =>  Div(d, Mul(Clip(SafeRoot(s), eps), Clip(SafeRoot(t), eps)))
/// PyTorch's cosine_similarity clips each norm, and the gradient passes through the clips.
struct FormCosineSimilarity : OpRewritePattern<NodeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NodeOp div, PatternRewriter &rewriter) const override {
    if (!div.isOperator("Div"))
      return failure();
    NodeOp max = definedBy(div.getInputs()[1], "Max");
    if (!max || max.getInputs().size() != 2 || !splatOf(max.getInputs()[1]))
      return rewriter.notifyMatchFailure(div, "does not divide by a clipped value");
    NodeOp root = definedBy(max.getInputs()[0], "Sqrt");
    NodeOp product = root ? definedBy(root.getInputs()[0], "Mul") : NodeOp();
    if (!product || !isSumOfSquares(product.getInputs()[0]) ||
        !isSumOfSquares(product.getInputs()[1]))
      return rewriter.notifyMatchFailure(div, "does not divide by a product of norms");
    SmallVector<Value> norms;
    for (Value sum : product.getInputs()) {
      NamedAttribute half = rewriter.getNamedAttr("exponent", rewriter.getF64FloatAttr(0.5));
      auto norm = NodeOp::create(rewriter, root.getLoc(), TypeRange{sum.getType()}, "SafeRoot",
                                 /*version=*/1, rewriter.getStringAttr("mtc"),
                                 rewriter.getDictionaryAttr(half), sum);
      auto clip = NodeOp::create(rewriter, max.getLoc(), TypeRange{sum.getType()}, "Clip",
                                 /*version=*/13, StringAttr(), rewriter.getDictionaryAttr({}),
                                 ValueRange{norm.getResult(0), max.getInputs()[1]});
      clip->setAttr(straightThroughAttribute, rewriter.getUnitAttr());
      norms.push_back(clip.getResult(0));
    }
    auto divisor =
        NodeOp::create(rewriter, max.getLoc(), product.getResultTypes(), "Mul",
                       product.getVersion(), StringAttr(), rewriter.getDictionaryAttr({}), norms);
    rewriter.modifyOpInPlace(div, [&] { div->setOperand(1, divisor.getResult(0)); });
    return success();
  }

private:
  static bool isSumOfSquares(Value value) {
    NodeOp sum = definedBy(value, "ReduceSum");
    NodeOp square = sum ? definedBy(sum.getInputs()[0], "Mul") : NodeOp();
    return square && square.getInputs()[0] == square.getInputs()[1];
  }
};

struct FormTorchFunctionsPass : impl::FormTorchFunctionsPassBase<FormTorchFunctionsPass> {
  void runOnOperation() override {
    applyPattern<FormXLogY>(getOperation());
    applyPattern<FormLogAddExp>(getOperation());
    applyPattern<FormAtan2>(getOperation());
    applyPattern<FormClippedLogit>(getOperation());
    applyPattern<FormCosineSimilarity>(getOperation());
  }
};

} // namespace
} // namespace mtc::onnx
