//===- SafeRoot.cpp - Roots with a zero gradient at zero --------------------------------------===//

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/exporters/Patterns.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_FORMSAFEROOTPASS
#include "frontend/onnx/exporters/Passes.h.inc"

namespace {

/// Returns the exponent of a square root or of a power with a constant exponent.
std::optional<double> exponentOf(NodeOp node) {
  if (node.isOperator("Sqrt"))
    return 0.5;
  return node.isOperator("Pow") ? splatOf(node.getInputs()[1]) : std::nullopt;
}

/// Returns whether a value is x * x, |x| or a power with an exponent above 1.
bool isPower(Value value) {
  auto node = value.getDefiningOp<NodeOp>();
  if (!node)
    return false;
  if (node.isOperator("Mul"))
    return node.getInputs()[0] == node.getInputs()[1];
  if (node.isOperator("Abs"))
    return true;
  if (node.isOperator("Cast"))
    return isPower(node.getInputs()[0]);
  return exponentOf(node).value_or(0) > 1;
}

/// Returns the operand that a node scales by a constant, reshapes or casts; null for other nodes.
Value scaledBy(NodeOp node) {
  bool isShape =
      llvm::StringSwitch<bool>(node.getOpType())
          .Cases({"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Cast"}, true)
          .Default(false);
  if (isShape || (node.isOperator("Div") && NodeView(node).constant(1)))
    return node.getInputs()[0];
  if (node.isOperator("Mul"))
    for (size_t factor : {0, 1})
      if (NodeView(node).constant(factor))
        return node.getInputs()[1 - factor];
  return {};
}

/// Returns whether a value is a sum of powers, as in a norm or a variance, or is clamped to at
/// least 0, as are the squared distances of PyTorch's cdist.
bool isSumOfPowers(Value value) {
  while (auto node = value.getDefiningOp<NodeOp>()) {
    if (!node.getDomain().value_or("").empty())
      return false;
    if (node.isOperator("ReduceSumSquare"))
      return true;
    if (node.isOperator("ReduceSum") || node.isOperator("ReduceMean"))
      return isPower(node.getInputs()[0]);
    if (node.isOperator("Clip"))
      return NodeView(node).has(1) && splatOf(node.getInputs()[1]) == 0.0;
    if (node.isOperator("Max"))
      return node.getInputs().size() == 2 &&
             (splatOf(node.getInputs()[0]) == 0.0 || splatOf(node.getInputs()[1]) == 0.0);
    value = scaledBy(node);
    if (!value)
      return false;
  }
  return false;
}

/// Sqrt(s), or Pow(s, p) with 0 < p < 1, of a sum of powers s  =>  mtc.SafeRoot(s)
struct FormSafeRoot : OpRewritePattern<NodeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NodeOp root, PatternRewriter &rewriter) const override {
    std::optional<double> exponent = exponentOf(root);
    if (!exponent || *exponent <= 0 || *exponent >= 1)
      return rewriter.notifyMatchFailure(root, "is no root");
    Value radicand = root.getInputs()[0];
    if (root.getResult(0).getType() != radicand.getType() ||
        !isa<FloatType>(getElementTypeOrSelf(radicand.getType())) || !isSumOfPowers(radicand))
      return rewriter.notifyMatchFailure(root, "is of something else than a sum of powers");
    NamedAttribute attribute =
        rewriter.getNamedAttr("exponent", rewriter.getF64FloatAttr(*exponent));
    rewriter.replaceOpWithNewOp<NodeOp>(root, root.getResultTypes(), "SafeRoot", /*version=*/1,
                                        rewriter.getStringAttr("mtc"),
                                        rewriter.getDictionaryAttr(attribute), radicand);
    return success();
  }
};

struct FormSafeRootPass : impl::FormSafeRootPassBase<FormSafeRootPass> {
  void runOnOperation() override { applyPattern<FormSafeRoot>(getOperation()); }
};

} // namespace
} // namespace mtc::onnx
