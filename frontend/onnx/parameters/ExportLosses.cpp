//===- ExportLosses.cpp - Module parameters that an exporter transformed ----------------------===//

#include "frontend/onnx/parameters/ExportLosses.h"

#include "frontend/onnx/dialect/FxValues.h"
#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/parameters/Provenance.h"
#include "frontend/onnx/parameters/RecurrentImages.h"
#include "frontend/onnx/parameters/TrainableConstants.h"

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

/// Returns whether a value of this name is another value in a different layout, a part of it, its
/// negation, or its sum with a constant, so that the gradients are equal up to the sign. `val_N` is
/// an intermediate value of the exporter's translation of an operator, which only changes layouts.
bool keepsGradients(StringRef name) {
  return isFoldedName(name) || isPart(name) || keepsElements(name) ||
         llvm::StringSwitch<bool>(operatorOfValue(name))
             .Cases({"add", "sub", "neg", "cat", "stack"}, true)
             .Default(false);
}

/// Returns whether a value of this name may be a computed index.
bool mayBeIndex(StringRef name) {
  return isFoldedName(name) || isPart(name) || keepsElements(name) ||
         llvm::StringSwitch<bool>(operatorOfValue(name))
             .Cases({"arange", "add", "sub", "cumsum", "full", "ones", "zeros"}, true)
             .Cases({"expand", "repeat", "lift_fresh_copy"}, true)
             .Default(false);
}

/// Returns whether the rows of a table are pairwise different, as far as their elements are known.
/// Returns false if at most one row is known.
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

/// Finds module parameters that the exporter transformed.
class LossFinder {
public:
  LossFinder(GraphOp graph, const StringMap<InitializerClass> &classes)
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
    llvm::StringSet<> used, merged; // Parameters used by nodes; modules with merged nodes.
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
    // The module does not compute with parameters that no node uses.
    if (hasArguments)
      for (const std::string &name : signatureParameters(graph))
        if (!used.contains(name) && !merged.contains(StringRef(name).rsplit('.').first))
          result.accounted.insert(name);
  }

  /// Returns whether a node uses one value for two different arguments, because the exporter merged
  /// equal nodes, such as the class token and the distillation token of an untrained module. The
  /// merged node's parameter is then missing from the file.
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

  /// Returns whether an initializer's gradient is that of the parameters from which it was folded.
  /// This is the case for weights of recurrent layers, for rows of a table, and for an initializer
  /// that keeps gradients if all of its origins do, too.
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

  /// Returns whether the initializer holds rows of an embedding at constant indices, each row once.
  bool isRowsOfTable(InitializerOp initializer) const {
    if (operatorOfValue(initializer.getName()) != "embedding" || !hasDifferentRows(initializer))
      return false;
    auto origins = initializer->getAttrOfType<ArrayAttr>(foldedFromAttribute);
    return llvm::all_of(origins.getAsRange<StringAttr>(), [&](StringAttr origin) {
      StringRef name = origin.getValue();
      return provenance.isParameter(name) || provenance.isBuffer(name) || mayBeIndex(name);
    });
  }

  static bool isNumber(StringRef name) { return !name.empty() && llvm::all_of(name, isDigit); }

  /// Finds losses in files of the TorchScript-based exporter, which names a folded tensor after the
  /// operator that uses it. A folded batch normalization leaves a generated weight and bias at its
  /// convolution. PyTorch before 1.11 names a folded tensor by a number, and very old versions name
  /// all tensors so.
  void findScoped() {
    if (!isProducedBy(graph, "pytorch"))
      return;
    result.remedy = scopedRemedy.str();
    SmallVector<InitializerOp> initializers = trainableInitializers(graph);
    bool hasNames = llvm::any_of(
        initializers, [](InitializerOp initializer) { return !isNumber(initializer.getName()); });
    for (InitializerOp initializer : initializers) {
      StringRef name = initializer.getName();
      bool isFolded = name.starts_with("onnx::Conv") || (hasNames && isNumber(name));
      if (!isFolded || !isTrained(initializer))
        continue;
      const InitializerUse &use = uses.find(name)->second.front();
      NodeOp node = use.node;
      if (use.operand != 1 || !node.getOpType().starts_with("Conv"))
        continue;
      std::string module = modulePath(node);
      std::string bias = node.getInputs().size() > 2 ? nameOf(node.getInputs()[2]) : "";
      if (isTorchScriptFoldedName(bias) || isNumber(bias))
        result.convolutions.push_back(module.empty() ? name.str() : module);
      else if (!isOfInnerModule(initializer, node, bias))
        result.computed.push_back(quoted(name) + (module.empty() ? "" : " (" + module + ")"));
    }
  }

  /// Returns the name of an initializer, or of an Identity that names an equal tensor; empty for
  /// other values.
  static std::string nameOf(Value value) {
    if (auto initializer = value.getDefiningOp<InitializerOp>())
      return initializer.getName().str();
    auto node = value.getDefiningOp<NodeOp>();
    return node && node.isOperator("Identity") && node->hasAttr(resultsAttribute)
               ? resultName(node).str()
               : "";
  }

  /// Returns whether a module calls a convolution with the weight of an inner layer, such as the
  /// causal convolutions of state space models:
  /// `conv1d(x, self.conv1d.weight.squeeze(1).unsqueeze(1))`. There the exporter only folded the
  /// axis of extent 1, which loses nothing. In contrast, a layer's own convolution uses the layer's
  /// bias, and no other node of the layer uses initializers.
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
  return LossFinder(graph, classes).run();
}

} // namespace mtc::onnx
