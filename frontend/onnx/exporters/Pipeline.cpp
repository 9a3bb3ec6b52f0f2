//===- Pipeline.cpp - Pipelines that undo rewrites of ONNX exporters --------------------------===//

#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/parameters/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace mtc::onnx {

void buildParametersPipeline(OpPassManager &manager, const ParameterChoices &choices) {
  const auto &[merged, tie, untie, patterns] = choices;
  OpPassManager &graphs = manager.nest<GraphOp>();
  // The operators of the FX graph are dropped with the other metadata.
  graphs.addPass(createFormTorchExtremaPass());
  graphs.addPass(createMarkStraightThroughClipsPass());
  // Initializers are split before they are tied and classified, because each resulting initializer
  // is tied and classified separately.
  graphs.addPass(createSplitSharedInitializersPass({llvm::to_vector(untie), merged}));
  graphs.addPass(createTieInitializersPass(
      {llvm::to_vector(tie), llvm::to_vector(untie), patterns.hasAdapters}));
  graphs.addPass(createChooseParametersPass(
      {llvm::to_vector(patterns.train), llvm::to_vector(patterns.freeze), patterns.hasAdapters}));
}

void buildExportersPipeline(OpPassManager &manager) {
  manager.addNestedPass<GraphOp>(createFormSafeSoftmaxPass());
  manager.addNestedPass<GraphOp>(createFormSafeRootPass());
  // This pass precedes the one that turns the logarithms of sigmoids in a binary cross-entropy into
  // LogSigmoid.
  manager.addNestedPass<GraphOp>(createFormBinaryCrossEntropyPass());
  manager.addNestedPass<GraphOp>(createFormTorchFunctionsPass());
  manager.addNestedPass<GraphOp>(createFormLogSigmoidPass());
  manager.addNestedPass<GraphOp>(createMergeReshapedTransposesPass());
}

void registerExportersPipeline() {
  PassPipelineRegistration<>("onnx-undo-exporters", "Undo what exporters do to a model",
                             buildExportersPipeline);
}

} // namespace mtc::onnx
