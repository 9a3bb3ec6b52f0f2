//===- OnnxFrontend.cpp - The frontend of ONNX models -----------------------------------------===//

#include "frontend/onnx/OnnxFrontend.h"

#include "frontend/onnx/OnnxModel.h"
#include "frontend/onnx/OperatorTable.h"
#include "frontend/onnx/convert/Passes.h"
#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/inference/Passes.h"
#include "frontend/onnx/parameters/Passes.h"
#include "frontend/onnx/writer/GradientModel.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

class OnnxFrontend : public Frontend {
public:
  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<OnnxDialect>();
  }

  std::unique_ptr<SourceModel> read(StringRef path, Problems &problems) const override {
    std::unique_ptr<Model> model = Model::read(path, problems);
    return model ? std::make_unique<OnnxModel>(std::move(model)) : nullptr;
  }

  StringRef findMissingGraph(ModuleOp module) const override {
    return module.getOps<GraphOp>().empty() ? GraphOp::getOperationName() : "";
  }

  void buildParameterPasses(OpPassManager &manager, const ParameterChoices &choices,
                            std::optional<int64_t> unrollLimit) const override {
    if (unrollLimit)
      manager.addNestedPass<GraphOp>(createExpandControlFlowPass({*unrollLimit}));
    buildParametersPipeline(manager, choices);
  }

  void buildInferencePasses(OpPassManager &manager, const GraphSettings &settings) const override {
    manager.addNestedPass<GraphOp>(createFoldInitializersPass({settings.hasWeights}));
    manager.addNestedPass<GraphOp>(createInferAndFoldPass({settings.unrollLimit}));
    manager.addNestedPass<GraphOp>(createFormDropoutPass());
  }

  void buildConversion(OpPassManager &manager, const GraphSettings &settings) const override {
    buildExportersPipeline(manager);
    manager.addPass(createConvertOnnxToMtcPass({settings.keepsAttention,
                                                settings.batchNorm.value_or(BatchNormMode()),
                                                settings.ranks, settings.dropout.value_or(-1)}));
  }

  Expected<std::string> describeOperators(ArrayRef<std::string> names) const override {
    return onnx::describeOperators(names);
  }

  std::vector<std::string> getGradientOperations() const override {
    return GradientModel::getOperations();
  }
};

} // namespace

const Frontend &getFrontend() {
  static const OnnxFrontend frontend;
  return frontend;
}

} // namespace mtc::onnx
