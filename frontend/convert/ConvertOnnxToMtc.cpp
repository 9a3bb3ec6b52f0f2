//===- ConvertOnnxToMtc.cpp - The graph @main as the function @forward ------------------------===//

#include "frontend/convert/Converters.h"
#include "frontend/convert/Passes.h"
#include "frontend/convert/Rewrites.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_CONVERTONNXTOMTCPASS
#include "frontend/convert/Passes.h.inc"

namespace {

/// Stands for the results of a node that could not be converted, so that the nodes behind it are
/// looked at too.
void definePlaceholders(Conversion &node, Program &program) {
  for (Value output : node.op().getOutputs())
    if (isa<RankedTensorType>(output.getType()))
      program.define(
          output,
          UnrealizedConversionCastOp::create(node.b, output.getType(), ValueRange{}).getResult(0));
}

/// Every value is a static ranked tensor or left out; the first one that is not is reported.
LogicalResult checkInferred(GraphOp graph) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return isa<NoneType>(type) || (tensor && tensor.hasStaticShape());
  };
  if (!llvm::all_of(graph.getArgumentTypes(), isStatic))
    return graph.emitError("the graph's inputs are not static: bind their dimensions first");
  for (Operation &op : graph.getBody().front())
    for (Type type : op.getResultTypes())
      if (!isStatic(type))
        return op.emitError("has type ")
               << type << ", expected a static one: run onnx-infer-and-fold first";
  return success();
}

struct ConvertOnnxToMtcPass : impl::ConvertOnnxToMtcPassBase<ConvertOnnxToMtcPass> {
  void runOnOperation() override {
    auto graph = getOperation().lookupSymbol<GraphOp>("main");
    if (!graph) {
      getOperation().emitError("expected a graph @main");
      return signalPassFailure();
    }
    if (failed(checkInferred(graph)))
      return signalPassFailure();
    rewriteSafeSoftmax(graph);
    rewriteTransposedReshape(graph);

    Program program(graph);
    bool ok = true;
    for (auto op : graph.getOps<NodeOp>()) {
      Conversion node(op, program);
      if (succeeded(convert(node)))
        continue;
      ok = false;
      definePlaceholders(node, program);
    }
    if (!ok) {
      program.discard();
      return signalPassFailure();
    }
    program.finish();
    for (auto other : llvm::make_early_inc_range(getOperation().getOps<GraphOp>()))
      other.erase();
  }
};

} // namespace
} // namespace mtc::onnx
