//===- StraightThroughClips.cpp - Clips without an effect on gradients ------------------------===//

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/exporters/Patterns.h"
#include "frontend/onnx/parameters/Provenance.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_MARKSTRAIGHTTHROUGHCLIPSPASS
#include "frontend/onnx/exporters/Passes.h.inc"

namespace {

/// Returns the node that defines a value if it is an instance of the operator with `operands`
/// operands, or null. The nodes have not been checked yet.
NodeOp definedBy(Value value, StringRef opType, size_t operands) {
  NodeOp node = onnx::definedBy(value, opType);
  return node && node.getInputs().size() == operands ? node : NodeOp();
}

/// Returns the Clip that defines a value if it has a lower bound only, or null.
NodeOp clipFromBelow(Value value) {
  NodeOp clip = onnx::definedBy(value, "Clip");
  return clip && NodeView(clip).has(1) && !NodeView(clip).has(2) ? clip : NodeOp();
}

/// v = Clip(x, eps), Log(v) + d² / v: torch.nn.functional.gaussian_nll_loss. Returns v's node.
NodeOp varianceOf(NodeOp add) {
  for (size_t i : {0, 1}) {
    NodeOp log = definedBy(add.getInputs()[i], "Log", 1),
           div = definedBy(add.getInputs()[1 - i], "Div", 2);
    NodeOp clip = log ? clipFromBelow(log.getInputs()[0]) : NodeOp();
    if (!clip || !div || div.getInputs()[1] != clip.getResult(0))
      continue;
    NodeOp pow = definedBy(div.getInputs()[0], "Pow", 2);
    if (pow && splatOf(pow.getInputs()[1]) == 2.0 && definedBy(pow.getInputs()[0], "Sub", 2))
      return clip;
  }
  return {};
}

/// Returns the operand of an Identity, such as PyTorch's clone; other values unchanged.
Value original(Value value) {
  NodeOp identity = definedBy(value, "Identity", 1);
  return identity ? identity.getInputs()[0] : value;
}

/// n = Clip(ReduceL2(x), eps), x / n: a factor of torch.nn.functional.cosine_similarity. Returns
/// n's node.
NodeOp normOf(Value factor) {
  NodeOp div = definedBy(factor, "Div", 2);
  NodeOp clip = div ? clipFromBelow(div.getInputs()[1]) : NodeOp();
  NodeOp norm = clip ? onnx::definedBy(original(clip.getInputs()[0]), "ReduceL2") : NodeOp();
  return norm && NodeView(norm).has(0) && norm.getInputs()[0] == div.getInputs()[0] ? clip
                                                                                    : NodeOp();
}

struct MarkStraightThroughClipsPass
    : impl::MarkStraightThroughClipsPassBase<MarkStraightThroughClipsPass> {
  void runOnOperation() override {
    auto mark = [&](NodeOp clip) {
      clip->setAttr(straightThroughAttribute, UnitAttr::get(&getContext()));
    };
    getOperation().walk([&](NodeOp node) {
      if (node.isOperator("Add") && node.getInputs().size() == 2) {
        // The torch.export-based exporter does not export the function: the clip is the module's.
        if (NodeOp variance = varianceOf(node); variance && fxOperator(variance).empty()) {
          mark(variance);
          emitRemark(variance.getLoc())
              << "the gradient passes through the bound, as in PyTorch's gaussian_nll_loss. If the "
                 "module clamps the variance itself, export it with mtc.export";
        }
      } else if (node.isOperator("ReduceSum") && NodeView(node).has(0)) {
        NodeOp product = definedBy(node.getInputs()[0], "Mul", 2);
        if (!product)
          return;
        NodeOp a = normOf(product.getInputs()[0]), b = normOf(product.getInputs()[1]);
        if (a && b) {
          mark(a);
          mark(b);
        }
      }
    });
  }
};

} // namespace
} // namespace mtc::onnx
