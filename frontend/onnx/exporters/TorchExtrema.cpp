//===- TorchExtrema.cpp - Clamps and maxima by the operators of PyTorch -----------------------===//

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/parameters/Provenance.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_FORMTORCHEXTREMAPASS
#include "frontend/onnx/exporters/Passes.h.inc"

namespace {

bool isClamp(NodeOp node) {
  return llvm::StringSwitch<bool>(fxOperator(node))
      .Cases({"aten.clamp", "aten.clamp_min", "aten.clamp_max"}, true)
      .Default(false);
}

/// Returns whether the bounds of a clamp are numbers. The exporter passes numbers to the overload
/// for tensors as values of aten.scalar_tensor.
bool hasNumbers(NodeOp clamp) {
  auto arguments = clamp->getAttrOfType<ArrayAttr>(argumentsAttribute);
  return arguments && !arguments.empty() &&
         llvm::all_of(arguments.getValue().drop_front(), [](Attribute argument) {
           StringRef name = cast<StringAttr>(argument).getValue();
           return name.consume_front("%") && name.starts_with("scalar_tensor");
         });
}

NodeOp create(OpBuilder &builder, NodeOp replaced, StringRef opType, ValueRange operands) {
  auto node = NodeOp::create(builder, replaced.getLoc(), replaced.getResultTypes(), opType,
                             /*version=*/13, StringAttr(), builder.getDictionaryAttr({}), operands);
  node->setDiscardableAttrs(replaced->getDiscardableAttrDictionary());
  return node;
}

/// Max(x, b)  =>  Clip(x, b), Min(x, b)  =>  Clip(x, , b)
void formClip(NodeOp node) {
  OpBuilder builder(node);
  Value x = node.getInputs()[0], bound = node.getInputs()[1];
  SmallVector<Value> operands{x};
  if (node.isOperator("Min"))
    operands.push_back(NoneOp::create(builder, node.getLoc(), builder.getNoneType()));
  operands.push_back(bound);
  node.replaceAllUsesWith(create(builder, node, "Clip", operands));
  node.erase();
}

/// Clip(x, a, b)  =>  Min(Max(x, a), b)
void formExtrema(NodeOp clip) {
  OpBuilder builder(clip);
  Value x = clip.getInputs()[0];
  NodeView view(clip);
  if (view.has(1))
    x = create(builder, clip, "Max", {x, clip.getInputs()[1]}).getResult(0);
  if (view.has(2))
    x = create(builder, clip, "Min", {x, clip.getInputs()[2]}).getResult(0);
  clip.getResult(0).replaceAllUsesWith(x);
  clip.erase();
}

/// Marks the maximum or minimum along an axis whose gradient goes to the first of equal elements.
void markFirst(NodeOp node) {
  auto fx = node->getAttrOfType<StringAttr>(fxOperatorAttribute);
  if (fx && ((node.isOperator("ReduceMax") && fx == "aten.max.dim") ||
             (node.isOperator("ReduceMin") && fx == "aten.min.dim")))
    node->setAttr(firstExtremumAttribute, UnitAttr::get(node->getContext()));
}

struct FormTorchExtremaPass : impl::FormTorchExtremaPassBase<FormTorchExtremaPass> {
  void runOnOperation() override {
    getOperation().walk([&](NodeOp node) {
      if (!isClamp(node))
        markFirst(node);
      else if (node.isOperator("Clip") && NodeView(node).has(0) && !hasNumbers(node))
        formExtrema(node);
      else if ((node.isOperator("Max") || node.isOperator("Min")) && node.getInputs().size() == 2 &&
               hasNumbers(node))
        formClip(node);
    });
  }
};

} // namespace
} // namespace mtc::onnx
