//===- BinaryCrossEntropy.cpp - Binary cross-entropy of probabilities -------------------------===//

#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/exporters/Patterns.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_FORMBINARYCROSSENTROPYPASS
#include "frontend/onnx/exporters/Passes.h.inc"

namespace {

/// Returns x of Max(Log(x), -100), or null.
Value clampedLogarithm(Value value) {
  NodeOp max = definedBy(value, "Max");
  Value inner = max ? otherOperand(max, -100) : Value();
  NodeOp log = inner ? definedBy(inner, "Log") : NodeOp();
  return log ? log.getInputs()[0] : Value();
}

/// Returns x of 1 - x, which log1p(-x) is exported as Add(Neg(x), 1), or null.
Value complement(Value value) {
  if (NodeOp sub = definedBy(value, "Sub"))
    return splatOf(sub.getInputs()[0]) == 1.0 ? sub.getInputs()[1] : Value();
  NodeOp add = definedBy(value, "Add");
  Value inner = add ? otherOperand(add, 1) : Value();
  NodeOp neg = inner ? definedBy(inner, "Neg") : NodeOp();
  return neg ? neg.getInputs()[0] : Value();
}

/// Calls `match` with both orders of a multiplication's operands until it returns a value.
template <typename Match> Value eitherOrder(Value product, Match match) {
  NodeOp mul = definedBy(product, "Mul");
  if (!mul)
    return {};
  Value a = mul.getInputs()[0], b = mul.getInputs()[1], found = match(a, b);
  return found ? found : match(b, a);
}

/// (t - 1) max(log(1 - p), -100) - t max(log p, -100)  =>  mtc.BinaryCrossEntropy(p, t)
struct FormBinaryCrossEntropy : OpRewritePattern<NodeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NodeOp loss, PatternRewriter &rewriter) const override {
    if (!loss.isOperator("Sub"))
      return failure();
    Value target;
    Value probability = eitherOrder(loss.getInputs()[0], [&](Value factor, Value logarithm) {
      NodeOp sub = definedBy(factor, "Sub");
      Value argument = clampedLogarithm(logarithm);
      if (!sub || splatOf(sub.getInputs()[1]) != 1.0 || !argument)
        return Value();
      target = sub.getInputs()[0];
      return complement(argument);
    });
    if (!probability)
      return rewriter.notifyMatchFailure(loss, "has no term (t - 1) log(1 - p)");
    Value other = eitherOrder(loss.getInputs()[1], [&](Value factor, Value logarithm) {
      return factor == target ? clampedLogarithm(logarithm) : Value();
    });
    if (other != probability)
      return rewriter.notifyMatchFailure(loss, "has no term t log p");
    rewriter.replaceOpWithNewOp<NodeOp>(loss, loss.getResultTypes(), "BinaryCrossEntropy",
                                        /*version=*/1, rewriter.getStringAttr("mtc"),
                                        rewriter.getDictionaryAttr({}),
                                        ValueRange{probability, target});
    return success();
  }
};

struct FormBinaryCrossEntropyPass
    : impl::FormBinaryCrossEntropyPassBase<FormBinaryCrossEntropyPass> {
  void runOnOperation() override { applyPattern<FormBinaryCrossEntropy>(getOperation()); }
};

} // namespace
} // namespace mtc::onnx
