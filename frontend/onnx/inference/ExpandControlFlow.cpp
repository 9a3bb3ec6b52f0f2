//===- ExpandControlFlow.cpp - Expansion of control flow known at compile time ----------------===//

#include "frontend/onnx/inference/Passes.h"
#include "frontend/onnx/inference/Walk.h"
#include "frontend/onnx/parameters/Parameters.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace mtc::onnx {

#define GEN_PASS_DEF_EXPANDCONTROLFLOWPASS
#include "frontend/onnx/inference/Passes.h.inc"

namespace {

/// Defines the values of initializers that are constant independently of the user's choice of
/// parameters.
void defineConstants(Walk &walk, GraphOp graph) {
  llvm::StringMap<InitializerClass> classes = classifyInitializers(graph);
  for (auto initializer : graph.getOps<InitializerOp>()) {
    ElementsAttr sample = initializer.getSampleAttr();
    auto known = classes.find(initializer.getName());
    if (known == classes.end() || known->second.role != InitializerRole::Constant || !sample ||
        sample.getType() != initializer.getType())
      continue;
    if (std::optional<Tensor> value = Tensor::fromAttribute(sample))
      walk.define(initializer, *value);
  }
}

struct ExpandControlFlowPass : impl::ExpandControlFlowPassBase<ExpandControlFlowPass> {
  using ExpandControlFlowPassBase::ExpandControlFlowPassBase;

  void runOnOperation() override {
    GraphOp graph = getOperation();
    auto isStatic = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape();
    };
    if (llvm::none_of(graph.getOps<NodeOp>(), Expander::expands) ||
        !llvm::all_of(graph.getArgumentTypes(), isStatic))
      return;
    // onnx-infer-and-fold, which runs later, reports the errors.
    ScopedDiagnosticHandler silence(&getContext(), [](Diagnostic &) { return success(); });
    OptionalOutputs optional(graph);
    Walk walk(graph, optional, Walk::Effect::ExpandOnly, unroll);
    defineConstants(walk, graph);
    (void)walk.run();
  }
};

} // namespace
} // namespace mtc::onnx
