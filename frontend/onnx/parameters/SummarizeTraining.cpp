//===- SummarizeTraining.cpp - Summary of the trained parameters ------------------------------===//

#include "frontend/onnx/parameters/SummarizeTraining.h"

#include "frontend/onnx/parameters/ExportLosses.h"
#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/MovingStatistics.h"
#include "frontend/onnx/parameters/RenamedParameters.h"
#include "frontend/onnx/parameters/TrainableConstants.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

/// Returns the missing parameters that a parameter of the file represents at one of its uses,
/// because the module ties them or the exporter merged them.
std::vector<std::string> findSharedParameters(const StringMap<InitializerClass> &classes,
                                              const StringMap<std::vector<InitializerUse>> &uses,
                                              ArrayRef<std::string> missing) {
  llvm::StringSet<> candidates;
  candidates.insert(missing.begin(), missing.end());
  std::vector<std::string> found;
  for (const auto &entry : uses) {
    auto known = classes.find(entry.getKey());
    if (candidates.empty() || known == classes.end() || !known->second.isParameter)
      continue;
    for (InitializerUse use : entry.second)
      if (std::string name = parameterOfUse(use, candidates); !name.empty())
        found.push_back(std::move(name));
  }
  return found;
}

/// Returns the missing parameters of recurrent layers that the file stores in another form: gates
/// in ONNX's order, and both biases in one tensor. A module has as many layers as recurrent nodes
/// with the operand.
std::vector<std::string> findRecurrentParameters(const StringMap<InitializerClass> &classes,
                                                 const StringMap<std::vector<InitializerUse>> &uses,
                                                 ArrayRef<std::string> missing) {
  constexpr StringRef kinds[] = {"weight_ih_l", "weight_hh_l", "bias_"}; // Operands 1 to 3.
  std::map<std::string, int64_t> layers; // Number of layers by name prefix.
  for (const auto &entry : uses) {
    auto known = classes.find(entry.getKey());
    if (known == classes.end() || !known->second.isParameter)
      continue;
    for (InitializerUse use : entry.second)
      if (isRecurrent(use.node) && use.operand >= 1 && use.operand <= 3)
        ++layers[modulePath(use.node) + "." + kinds[use.operand - 1].str()];
  }
  std::vector<std::string> found;
  for (const std::string &name : missing)
    for (const auto &[begin, count] : layers) {
      StringRef layer = name;
      layer.consume_back("_reverse");
      int64_t number = 0;
      if (layer.starts_with(begin) && !layer.rsplit("_l").second.getAsInteger(10, number) &&
          number < count)
        found.push_back(name);
    }
  return found;
}

} // namespace

/// Records an initializer whose class is inferred, unless a flag decides.
static void addInferred(TrainingSummary &summary, InitializerOp initializer,
                        const InitializerClass &known) {
  if (!known.isInferred || StringRef(known.reason).starts_with("--"))
    return;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(initializer.getType()).getShape();
  TrainingSummary::Inferred inferred{initializer.getName().str(), shape.vec(), known.reason};
  if (known.role == InitializerRole::Parameter) {
    if (known.isDoubtful)
      summary.doubtful.push_back(std::move(inferred));
  } else if (llvm::all_of(shape, [](int64_t extent) { return extent == 1; })) {
    ++summary.literals;
  } else {
    summary.leftOut.push_back(std::move(inferred));
  }
}

TrainingSummary summarizeTraining(GraphOp graph, const StringMap<InitializerClass> &classes) {
  TrainingSummary summary;
  StringMap<std::vector<InitializerUse>> uses = initializerUses(graph);
  llvm::DenseSet<Value> reached = reachedValues(graph);
  for (InitializerOp initializer : trainableInitializers(graph)) {
    std::string name = initializer.getName().str();
    auto entry = classes.find(name);
    if (entry == classes.end() || !uses.contains(name))
      continue;
    if (entry->second.reason == movingStatisticReason)
      summary.movingStatistics.push_back(name);
    bool isTrained = entry->second.role == InitializerRole::Parameter;
    addInferred(summary, initializer, entry->second);
    if (!isTrained && !entry->second.isParameter)
      continue;
    if (isTrained && !reached.contains(initializer)) {
      summary.unreached.push_back(name);
      continue; // The module does not train it either.
    }
    int64_t elements = cast<RankedTensorType>(initializer.getType()).getNumElements();
    ++summary.parameters;
    summary.elements += elements;
    summary.trained += isTrained;
    summary.trainedElements += isTrained ? elements : 0;
    summary.untrainedElements +=
        initializer->hasAttr(untrainedAttribute) && !isTrained ? elements : 0;
  }
  llvm::StringSet<> stoodFor;
  for (TrainableConstant &constant : findTrainableConstants(graph, classes)) {
    stoodFor.insert(constant.moduleName);
    int64_t elements = 1;
    for (int64_t extent : constant.shape)
      elements *= extent;
    summary.constantElements += elements;
    summary.constants.push_back(std::move(constant));
  }
  ExportLosses losses = findExportLosses(graph, classes);
  summary.foldedNorms = std::move(losses.norms);
  summary.foldedConvolutions = std::move(losses.convolutions);
  summary.computed = std::move(losses.computed);
  summary.remedy = losses.remedy;
  std::vector<std::string> missing = findMissingParameters(graph, classes);
  for (const std::string &name : findSharedParameters(classes, uses, missing))
    stoodFor.insert(name);
  for (const std::string &name : findRecurrentParameters(classes, uses, missing))
    stoodFor.insert(name);
  for (const RenamedParameters &group : findRenamedParameters(graph, classes)) {
    for (InitializerOp initializer : group.initializers)
      summary.renamed.push_back(initializer.getName().str());
    if (group.isComplete())
      stoodFor.insert_range(group.parameters);
  }
  for (std::string &name : missing)
    if (!stoodFor.contains(name) && !losses.accounted.contains(name))
      summary.missing.push_back(std::move(name));
  return summary;
}

} // namespace mtc::onnx
