//===- Pipeline.cpp - The order of the passes that undo what exporters do ---------------------===//

#include "frontend/exporters/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace mtc::onnx {

void buildExportersPipeline(OpPassManager &manager) {
  manager.addNestedPass<GraphOp>(createFormSafeSoftmaxPass());
  manager.addNestedPass<GraphOp>(createMergeReshapedTransposesPass());
}

void registerExportersPipeline() {
  PassPipelineRegistration<>("onnx-undo-exporters", "Undo what exporters do to a model",
                             buildExportersPipeline);
}

} // namespace mtc::onnx
