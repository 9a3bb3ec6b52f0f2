//===- InferAndFold.cpp - Type inference and constant folding ---------------------------------===//

#include "frontend/onnx/inference/Passes.h"
#include "frontend/onnx/inference/Walk.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_INFERANDFOLDPASS
#include "frontend/onnx/inference/Passes.h.inc"

namespace {

/// Reports graph inputs that are not static, because all other types depend on them.
LogicalResult checkArguments(GraphOp graph) {
  bool ok = true;
  for (BlockArgument argument : graph.getBody().getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (type && type.hasStaticShape())
      continue;
    ok = false;
    auto name = graph.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "onnx.name");
    InFlightDiagnostic diagnostic = graph->emitError("input ");
    if (name)
      diagnostic << "\"" << name.getValue() << "\"";
    else
      diagnostic << argument.getArgNumber();
    diagnostic << " has type " << argument.getType()
               << ", expected static dimensions; use --dim NAME=N to set them";
    if (auto dims = graph.getArgAttr(argument.getArgNumber(), "onnx.dims"))
      diagnostic << " (names in the file: " << dims << ")";
  }
  return success(ok);
}

class InferAndFold : public impl::InferAndFoldPassBase<InferAndFold> {
  using InferAndFoldPassBase::InferAndFoldPassBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    OptionalOutputs optional(graph);
    Walk walk(graph, optional, Walk::Effect::InferAndFold, unroll);
    eraseDead(graph.getBody().front());
    if (failed(checkArguments(graph)) || failed(walk.run()))
      return signalPassFailure();
    optional.removeOutputs();
    walk.materialize();
    eraseDead(graph.getBody().front());
  }
};

} // namespace
} // namespace mtc::onnx
