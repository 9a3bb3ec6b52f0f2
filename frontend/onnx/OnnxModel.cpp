//===- OnnxModel.cpp - An ONNX model as a source of programs ----------------------------------===//

#include "frontend/onnx/OnnxModel.h"

#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/parameters/FoldedNormalizations.h"
#include "frontend/onnx/parameters/FrozenModules.h"
#include "frontend/onnx/parameters/InferenceForms.h"
#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/Parameters.h"
#include "frontend/onnx/parameters/PossibleBuffers.h"
#include "frontend/onnx/parameters/StoppedGradients.h"
#include "frontend/onnx/parameters/SummarizeTraining.h"
#include "frontend/onnx/reader/Export.h"
#include "frontend/onnx/reader/GraphInputs.h"
#include "frontend/onnx/reader/Import.h"
#include "frontend/onnx/writer/GradientModel.h"

#include "onnx-ml.pb.h"

#include <map>

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

static GraphOp graphOf(ModuleOp module) { return *module.getOps<GraphOp>().begin(); }

std::vector<sys::fs::UniqueID> OnnxModel::getFiles() const {
  std::vector<sys::fs::UniqueID> files = {model->file()};
  llvm::append_range(files, model->dataFiles());
  return files;
}

std::vector<std::string> OnnxModel::getPaths() const {
  std::vector<std::string> paths = {model->path()};
  llvm::append_range(paths, model->dataPaths());
  return paths;
}

std::vector<ModelInput> OnnxModel::getInputs() const { return modelInputs(*model); }

/// Counts the nodes of a graph and its subgraphs by operator.
static void countOperators(const ::onnx::GraphProto &graph,
                           std::map<std::string, int64_t> &operators) {
  for (const auto &node : graph.node()) {
    ++operators[node.op_type()];
    for (const auto &attribute : node.attribute())
      if (attribute.has_g())
        countOperators(attribute.g(), operators);
  }
}

json::Object OnnxModel::describe() const {
  const ::onnx::GraphProto &graph = model->proto().graph();
  // Excludes the nodes that initializers replace.
  std::map<std::string, int64_t> operators;
  countOperators(graph, operators);
  for (const AddedInitializer &initializer : added)
    if (initializer.replaced)
      if (const auto &node = graph.node(static_cast<int>(*initializer.replaced));
          --operators[node.op_type()] == 0)
        operators.erase(node.op_type());
  json::Object counts;
  for (const auto &[name, count] : operators)
    counts[name] = count;
  json::Array outputs;
  for (const auto &output : graph.output())
    outputs.push_back(output.name());
  return json::Object{
      {"opset", model->opset()}, {"outputs", std::move(outputs)}, {"operators", std::move(counts)}};
}

OwningOpRef<ModuleOp> OnnxModel::import(MLIRContext &context, const ImportOptions &options,
                                        Problems &problems) {
  return importModel(*model, context, options, problems);
}

bool OnnxModel::knowsModuleNames(ModuleOp imported) const {
  return !graphOf(imported).getOps<NodeOp>().empty();
}

Parameters OnnxModel::describeParameters(ModuleOp imported) {
  GraphOp graph = graphOf(imported);
  Parameters parameters;
  StringMap<InitializerClass> classes = chosenClasses(graph);
  for (InitializerOp initializer : trainableInitializers(graph)) {
    const InitializerClass &known = classes[initializer.getName()];
    parameters.initializers.push_back(
        {initializer.getName().str(),
         llvm::to_vector(cast<RankedTensorType>(initializer.getType()).getShape()),
         known.role == InitializerRole::Parameter, roleName(known.role).str(), known.reason,
         known.moduleName, known.looksTrainable, known.isDoubtful});
    if (ArrayAttr images = initializer.getFileImagesAttr())
      for (auto image : images.getAsRange<TensorImageAttr>())
        parameters.ties.push_back(
            {initializer.getName().str(), image.getName().str(), image.isWhole()});
  }
  added = findAddedInitializers(graph);
  parameters.training = summarizeTraining(graph, classes);
  llvm::copy_if(
      parameters.training.constants, std::back_inserter(parameters.constants),
      [&](const TrainableConstant &constant) { return !model->hasInitializer(constant.name); });
  return parameters;
}

std::vector<ModelRemark> OnnxModel::checkParameters(ModuleOp imported, const Parameters &parameters,
                                                    const GraphSettings &settings) {
  GraphOp graph = graphOf(imported);
  const StringMap<InitializerClass> classes = chosenClasses(graph);
  std::vector<ModelRemark> remarks;
  auto add = [&](bool isWarning, ArrayRef<std::string> texts) {
    for (const std::string &text : texts)
      if (!text.empty())
        remarks.push_back({isWarning, text});
  };
  add(/*isWarning=*/true, normalizationWarnings(graph, classes));
  add(/*isWarning=*/true, possibleBufferWarnings(graph, classes));
  const TrainingSummary &training = parameters.training;
  const bool trainsAll = training.trained == training.parameters && training.constants.empty();
  if (!trainsAll && !settings.addsAdapters)
    add(/*isWarning=*/false, {training.text()});
  add(/*isWarning=*/false, training.notes());
  add(/*isWarning=*/true, training.warnings());
  add(/*isWarning=*/true, {settings.batchNorm ? unusedModeWarning(graph, *settings.batchNorm)
                                              : batchNormWarning(graph, classes),
                           dropoutWarning(graph), stoppedGradientsWarning(graph, classes)});
  if (settings.batchNorm.value_or(BatchNormMode::AsExported) == BatchNormMode::AsExported)
    add(/*isWarning=*/false, runningVarianceNotes(graph));
  return remarks;
}

std::string OnnxModel::describeFrozenModules(ModuleOp imported) {
  GraphOp graph = graphOf(imported);
  return frozenModulesNote(graph, chosenClasses(graph));
}

std::vector<ModelRemark> OnnxModel::checkGraph(ModuleOp inferred) {
  GraphOp graph = graphOf(inferred);
  replaced = findReplacedNodes(graph);
  if (std::string text = randomWarning(graph); !text.empty())
    return {{/*isWarning=*/true, std::move(text)}};
  return {};
}

bool OnnxModel::hasScalarResult(ModuleOp inferred) const {
  return llvm::any_of(graphOf(inferred).getFunctionType().getResults(), [](mlir::Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1;
  });
}

Expected<std::vector<ModelSegment>> OnnxModel::exportSegments(MLIRContext &context,
                                                              const llvm::StringSet<> &names) {
  Expected<std::vector<FileSegment>> segments =
      onnx::exportSegments(*model, added, names, replaced);
  if (!segments)
    return segments.takeError();
  std::vector<ModelSegment> result;
  result.reserve(segments->size());
  for (FileSegment &segment : *segments)
    result.push_back({std::move(segment.bytes), std::move(segment.initializer),
                      elementTypeFromOnnx(&context, segment.dataType), segment.form, segment.kind});
  return result;
}

std::unique_ptr<mtc::GradientModel>
OnnxModel::makeGradient(ModuleOp module, const mtc::GradientModel::Options &options,
                        Problems &problems) {
  return GradientModel::build(module, *model, options, problems);
}

} // namespace mtc::onnx
