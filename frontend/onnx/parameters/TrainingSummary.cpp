//===- TrainingSummary.cpp - Summary of the trained parameters --------------------------------===//

#include "frontend/onnx/parameters/TrainingSummary.h"

#include "frontend/onnx/Lists.h"
#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/parameters/ExportLosses.h"
#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/MovingStatistics.h"
#include "frontend/onnx/parameters/RenamedParameters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

std::string asItIs(const std::string &name) { return name; }

/// Formats a count as 1 539, 57.3 K or 11.2 M.
std::string magnitude(int64_t count) {
  if (count < 10000)
    return count < 1000 ? std::to_string(count)
                        : std::to_string(count / 1000) + " " +
                              llvm::formatv("{0,0-3:d}", count % 1000).str();
  bool isMillions = count >= 1000000;
  return llvm::formatv("{0:F1} {1}", static_cast<double>(count) / (isMillions ? 1e6 : 1e3),
                       isMillions ? "M" : "K");
}

std::string describe(const TrainableConstant &constant) {
  std::string text = quoted(constant.name) + " " + shapeText(constant.shape);
  return constant.moduleName.empty() ? text : text + " (" + constant.moduleName + " in the module)";
}

std::string describeInferred(const TrainingSummary::Inferred &inferred) {
  return quoted(inferred.name) + " " + shapeText(inferred.shape) + " (" + inferred.reason + ")";
}

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

std::string TrainingSummary::text() const {
  auto count = [](size_t number, const char *singular, const char *plural) {
    return std::to_string(number) + (number == 1 ? singular : plural);
  };
  return std::to_string(trained) + " of " + count(parameters, " parameter", " parameters") +
         " trained (" + std::to_string(trainedElements) + " of " +
         count(static_cast<size_t>(elements), " element", " elements") + "), " +
         count(constants.size(), " constant looks", " constants look") + " trainable";
}

std::vector<std::string> TrainingSummary::notes() const {
  std::vector<std::string> result;
  if (trained != parameters || !constants.empty())
    result.push_back(text());
  if (!leftOut.empty() || literals > 0) {
    std::string numbers =
        std::to_string(literals) + (literals == 1 ? " literal number" : " literal numbers");
    result.push_back("taken for constants, not trained: " + listed(leftOut, describeInferred) +
                     (literals == 0 ? "" : (leftOut.empty() ? "" : ", and ") + numbers) +
                     "; use --train with a full name to train one");
  }
  if (!doubtful.empty())
    result.push_back("trained, but possibly constants: " + listed(doubtful, describeInferred) +
                     "; use --freeze to keep one fixed");
  if (!movingStatistics.empty())
    result.push_back("assumed to be moving statistics of batch normalizations, not trained: " +
                     listed(movingStatistics, quoted) + "; use --train to train them");
  if (!unreached.empty())
    result.push_back("no output depends on these parameters, not trained: " +
                     listed(unreached, quoted));
  if (!renamed.empty())
    result.push_back("parameters under the names of the file, since an optimizer dropped those of "
                     "the module: " +
                     listed(renamed, quoted));
  return result;
}

std::vector<std::string> TrainingSummary::warnings() const {
  std::vector<std::string> result;
  std::string exportAgain = remedy.empty() ? "" : ". To train them, export with " + remedy;
  if (!constants.empty())
    result.push_back("constants used like parameters, not trained: " + listed(constants, describe) +
                     ". The exporter computed or stored them as constants; use --train to train "
                     "only the parameters that match" +
                     exportAgain);
  if (!missing.empty())
    result.push_back("module parameters missing in the file: " + listed(missing, asItIs) +
                     ". The exporter dropped or folded them; they are not trained" + exportAgain);
  // Without its optimizations, the torch.export-based exporter writes batch normalizations in
  // inference form.
  if (!foldedNorms.empty())
    result.push_back("batch normalizations of " + listed(foldedNorms, quoted) +
                     " folded into convolutions by the exporter; the folded weights are trained, "
                     "without batch statistics" +
                     exportAgain +
                     (exportAgain.empty() ? "" : " and compile with --batch-norm train"));
  if (!foldedConvolutions.empty())
    result.push_back(
        "convolution weights folded by the exporter, such as with batch normalizations: " +
        listed(foldedConvolutions, quoted) +
        ". The folded weights are trained, without batch statistics" + exportAgain);
  if (!computed.empty())
    result.push_back("initializers computed by the exporter from the module's parameters: " +
                     listed(computed, asItIs) +
                     ". The computed values are trained instead, so training steps differ" +
                     exportAgain);
  return result;
}

bool TrainingSummary::trainsLessThanHalf() const {
  return 2 * trainedElements < elements - untrainedElements + constantElements;
}

std::string TrainingSummary::refusal() const {
  std::string text = "only " + magnitude(trainedElements) + " of " +
                     (missing.empty() ? "" : "about ") + magnitude(elements + constantElements) +
                     " weights are trained";
  std::vector<std::string> names;
  names.reserve(constants.size());
  for (const TrainableConstant &constant : constants)
    names.push_back(constant.moduleName.empty() ? constant.name : constant.moduleName);
  if (!names.empty())
    text += "; the file stores others as constants: " + listed(names, quoted);
  return text + ". Use --train PATTERN to train them, or --freeze PATTERN to keep them fixed" +
         (remedy.empty() ? "" : "; or export with " + remedy);
}

json::Object TrainingSummary::toJson() const {
  json::Array looksTrainable;
  for (const TrainableConstant &constant : constants)
    looksTrainable.push_back(constant.name);
  return json::Object{{"parameters", static_cast<int64_t>(parameters)},
                      {"trained_parameters", static_cast<int64_t>(trained)},
                      {"elements", elements},
                      {"trained_elements", trainedElements},
                      {"looks_trainable", std::move(looksTrainable)},
                      {"unreached", json::Array(unreached)},
                      {"missing", json::Array(missing)}};
}

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
