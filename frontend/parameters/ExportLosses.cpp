//===- ExportLosses.cpp - What an exporter computed away --------------------------------------===//

#include "frontend/parameters/ExportLosses.h"

#include "frontend/FxValues.h"
#include "frontend/dialect/Node.h"
#include "frontend/parameters/Provenance.h"
#include "frontend/parameters/RecurrentImages.h"
#include "frontend/parameters/TrainableConstants.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

constexpr StringRef listedRemedy =
    "mtc.export(module, ...), or with torch.onnx.export(..., dynamo=True, optimize=False)";
constexpr StringRef variablesRemedy = "mtc.export(model, ...)";
constexpr StringRef scopedRemedy =
    "mtc.export(module, ...), or with torch.onnx.export(..., dynamo=False, "
    "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)";

/// Whether a value of this name is another one in a different layout, a part of it, negated or
/// shifted by a constant: but for the sign, the gradient by one is that by the other. `val_N` are
/// of the exporter's translation of an operator, which changes layouts.
bool keepsGradients(StringRef name) {
  return isFoldedName(name) || isPart(name) || keepsElements(name) ||
         llvm::StringSwitch<bool>(operatorOfValue(name))
             .Cases({"add", "sub", "neg", "cat", "stack"}, true)
             .Default(false);
}

/// Whether a value of this name may be a computed index.
bool mayBeIndex(StringRef name) {
  return isFoldedName(name) || isPart(name) || keepsElements(name) ||
         llvm::StringSwitch<bool>(operatorOfValue(name))
             .Cases({"arange", "add", "sub", "cumsum", "full", "ones", "zeros"}, true)
             .Cases({"expand", "repeat", "lift_fresh_copy"}, true)
             .Default(false);
}

/// Whether the rows of a table differ from each other, as far as its elements are known. Of one row
/// alone that cannot be told.
bool hasDifferentRows(InitializerOp initializer) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(initializer.getSampleAttr());
  auto type = cast<RankedTensorType>(initializer.getType());
  if (!elements || elements.isSplat() || type.getRank() < 2)
    return false;
  ArrayRef<char> bytes = elements.getRawData();
  size_t width = static_cast<size_t>(type.getShape().back()) *
                 elements.getElementType().getIntOrFloatBitWidth() / 8;
  llvm::StringSet<> rows;
  if (width == 0 || bytes.size() <= width)
    return false;
  StringRef rest(bytes.data(), bytes.size());
  for (; rest.size() >= width; rest = rest.drop_front(width))
    if (!rows.insert(rest.take_front(width)).second)
      return false;
  return llvm::none_of(
      rows, [&](const auto &row) { return !rest.empty() && row.getKey().starts_with(rest); });
}

class Finder {
public:
  Finder(GraphOp graph, const StringMap<InitializerClass> &classes)
      : graph(graph), classes(classes), provenance(graph), uses(initializerUses(graph)) {}

  ExportLosses run() {
    if (hasSignature(graph))
      findListed();
    else
      findScoped();
    return std::move(result);
  }

private:
  void findListed() {
    result.remedy = (provenance.hasVariables() ? variablesRemedy : listedRemedy).str();
    llvm::StringSet<> used, merged; // Parameters; modules with nodes that the exporter merged.
    bool hasArguments = false;
    for (auto node : graph.getOps<NodeOp>()) {
      auto arguments = node->getAttrOfType<ArrayAttr>(argumentsAttribute);
      if (!arguments)
        continue;
      hasArguments = true;
      if (readsMergedNode(node, arguments))
        merged.insert(modulePath(node));
      auto rules = node->getAttrOfType<StringAttr>(rulesAttribute);
      bool isFoldedNorm = rules && rules.getValue().contains("FuseBatchNorm");
      if (isFoldedNorm)
        result.norms.push_back(modulePath(node));
      for (auto argument : arguments.getAsRange<StringAttr>()) {
        used.insert(argument.getValue());
        if (isFoldedNorm)
          result.accounted.insert(argument.getValue());
      }
    }
    for (InitializerOp initializer : trainableInitializers(graph)) {
      std::vector<std::string> parameters = provenance.foldedParameters(initializer);
      for (const std::string &name : parameters)
        result.accounted.insert(name);
      if (!parameters.empty() && isTrained(initializer) && !hasSimpleOrigin(initializer))
        result.computed.push_back(quoted(initializer.getName()) + " (" +
                                  llvm::join(parameters, ", ") + ")");
    }
    // What no node mentions is not computed with.
    if (hasArguments)
      for (const std::string &name : signatureParameters(graph))
        if (!used.contains(name) && !merged.contains(StringRef(name).rsplit('.').first))
          result.accounted.insert(name);
  }

  /// Whether a node reads one value twice that the module computed twice, such as the class token
  /// and the distillation token of a fresh module, which are equal: then the exporter dropped the
  /// node that reads the other parameter.
  static bool readsMergedNode(NodeOp node, ArrayAttr arguments) {
    if (arguments.size() != node.getInputs().size())
      return false;
    llvm::DenseMap<Value, Attribute> names;
    return llvm::any_of(llvm::zip(node.getInputs(), arguments), [&](auto pair) {
      auto [operand, name] = pair;
      auto [known, isNew] = names.try_emplace(operand, name);
      return !isNew && known->second != name;
    });
  }

  bool isTrained(InitializerOp initializer) const {
    auto known = classes.find(initializer.getName());
    return known != classes.end() && known->second.role == InitializerRole::Parameter &&
           uses.contains(initializer.getName());
  }

  /// Whether an initializer's gradient is that of the parameters that it was folded from: of a
  /// recurrent layer, or of the only one.
  bool hasSimpleOrigin(InitializerOp initializer) const {
    if (isRecurrentWeight(uses.find(initializer.getName())->second) || isRowsOfTable(initializer))
      return true;
    if (!keepsGradients(initializer.getName()))
      return false;
    auto origins = initializer->getAttrOfType<ArrayAttr>(foldedFromAttribute);
    return llvm::all_of(origins.getAsRange<StringAttr>(), [&](StringAttr origin) {
      StringRef name = origin.getValue();
      return provenance.isParameter(name) || provenance.isBuffer(name) || keepsGradients(name);
    });
  }

  /// Whether it is the rows of an embedding that constant positions name, each once.
  bool isRowsOfTable(InitializerOp initializer) const {
    if (operatorOfValue(initializer.getName()) != "embedding" || !hasDifferentRows(initializer))
      return false;
    auto origins = initializer->getAttrOfType<ArrayAttr>(foldedFromAttribute);
    return llvm::all_of(origins.getAsRange<StringAttr>(), [&](StringAttr origin) {
      StringRef name = origin.getValue();
      return provenance.isParameter(name) || provenance.isBuffer(name) || mayBeIndex(name);
    });
  }

  /// The older exporter names what it folds after the node that reads it. A batch normalization
  /// leaves a weight and a bias of its convolution.
  void findScoped() {
    if (!isProducedBy(graph, "pytorch"))
      return;
    result.remedy = scopedRemedy.str();
    for (InitializerOp initializer : trainableInitializers(graph)) {
      StringRef name = initializer.getName();
      if (!name.starts_with("onnx::Conv") || !isTrained(initializer))
        continue;
      const InitializerUse &use = uses.find(name)->second.front();
      if (use.operand != 1)
        continue;
      NodeOp node = use.node;
      std::string module = modulePath(node);
      std::string bias = node.getInputs().size() > 2 ? nameOf(node.getInputs()[2]) : "";
      if (isTorchScriptFoldedName(bias))
        result.convolutions.push_back(module.empty() ? name.str() : module);
      else if (!isOfInnerModule(initializer, node, bias))
        result.computed.push_back(quoted(name) + (module.empty() ? "" : " (" + module + ")"));
    }
  }

  /// The name of an initializer, or of the Identity that stands for an equal one; empty for others.
  static std::string nameOf(Value value) {
    if (auto initializer = value.getDefiningOp<InitializerOp>())
      return initializer.getName().str();
    auto node = value.getDefiningOp<NodeOp>();
    return node && node.isOperator("Identity") && node->hasAttr(resultsAttribute)
               ? resultName(node).str()
               : "";
  }

  /// Whether a module calls a convolution with the weight of a layer inside it, such as the causal
  /// convolutions of state space models: `conv1d(x, self.conv1d.weight.squeeze(1).unsqueeze(1))`.
  /// The weight's axis of extent 1 is what the exporter folded, which loses nothing. A layer's own
  /// convolution reads the layer's bias, and nothing else is read there.
  bool isOfInnerModule(InitializerOp weight, NodeOp convolution, StringRef bias) const {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(weight.getType()).getShape();
    std::string module = modulePath(convolution);
    bool hasScope = !module.empty() || nodeName(convolution).starts_with("/");
    if (!hasScope || !llvm::is_contained(shape, 1))
      return false;
    if (!bias.empty())
      return bias.consume_front(module.empty() ? module : module + ".") && bias.contains('.');
    return llvm::any_of(uses, [&](const auto &entry) {
      return llvm::any_of(entry.second, [&](const InitializerUse &use) {
        return use.node != convolution && modulePath(use.node) == module;
      });
    });
  }

  GraphOp graph;
  const StringMap<InitializerClass> &classes;
  Provenance provenance;
  StringMap<std::vector<InitializerUse>> uses;
  ExportLosses result;
};

} // namespace

ExportLosses findExportLosses(GraphOp graph, const StringMap<InitializerClass> &classes) {
  return Finder(graph, classes).run();
}

} // namespace mtc::onnx
