//===- ExportLosses.cpp - What an exporter computed away --------------------------------------===//

#include "frontend/parameters/ExportLosses.h"

#include "frontend/parameters/Provenance.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

constexpr StringRef listedRemedy =
    "mtc.export(module, ...), or with torch.onnx.export(..., dynamo=True, optimize=False)";
constexpr StringRef scopedRemedy =
    "mtc.export(module, ...), or with torch.onnx.export(..., dynamo=False, "
    "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)";

/// Whether a value of this name is another one in a different layout, a part of it, negated or
/// shifted by a constant: but for the sign, the gradient by one is that by the other. `val_N` are
/// of the exporter's translation of an operator, which changes layouts.
bool keepsGradients(StringRef name) {
  return isFoldedName(name) || isPart(name) ||
         llvm::StringSwitch<bool>(operatorOfValue(name))
             .Cases({"permute", "transpose", "t", "view", "reshape", "unsqueeze", "squeeze"}, true)
             .Cases({"flatten", "clone", "detach", "alias", "contiguous", "numpy_T", "_to_copy"},
                    true)
             .Cases({"add", "sub", "neg", "cat", "stack"}, true)
             .Default(false);
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
    result.remedy = listedRemedy.str();
    llvm::StringSet<> used;
    bool hasArguments = false;
    for (auto node : graph.getOps<NodeOp>()) {
      auto arguments = node->getAttrOfType<ArrayAttr>(argumentsAttribute);
      if (!arguments)
        continue;
      hasArguments = true;
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
        if (!used.contains(name))
          result.accounted.insert(name);
  }

  bool isTrained(InitializerOp initializer) const {
    auto known = classes.find(initializer.getName());
    return known != classes.end() && known->second.role == InitializerRole::Parameter &&
           uses.contains(initializer.getName());
  }

  /// Whether an initializer's gradient is that of the one parameter that it was folded from.
  bool hasSimpleOrigin(InitializerOp initializer) const {
    if (!keepsGradients(initializer.getName()))
      return false;
    auto origins = initializer->getAttrOfType<ArrayAttr>(foldedFromAttribute);
    return llvm::all_of(origins.getAsRange<StringAttr>(), [&](StringAttr origin) {
      StringRef name = origin.getValue();
      return provenance.isParameter(name) || provenance.isBuffer(name) || keepsGradients(name);
    });
  }

  /// The older exporter names what it folds after the node that reads it.
  void findScoped() {
    if (!isProducedBy(graph, "pytorch"))
      return;
    result.remedy = scopedRemedy.str();
    for (InitializerOp initializer : trainableInitializers(graph))
      if (initializer.getName().starts_with("onnx::Conv") && isTrained(initializer)) {
        const InitializerUse &use = uses.find(initializer.getName())->second.front();
        std::string module = modulePath(use.node);
        if (use.operand == 1)
          result.convolutions.push_back(module.empty() ? initializer.getName().str() : module);
      }
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
