//===- Parameters.cpp - Classification of initializers ----------------------------------------===//

#include "frontend/onnx/parameters/Parameters.h"

#include "frontend/onnx/parameters/Classifier.h"
#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/PatternApplier.h"
#include "frontend/onnx/parameters/TrainableConstants.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

static constexpr StringRef roleNames[] = {"parameter", "constant", "state", "frozen"};

StringRef roleName(InitializerRole role) { return roleNames[static_cast<unsigned>(role)]; }

bool isTorchScriptFoldedName(StringRef name) {
  return name.starts_with("onnx::") || (!name.empty() && llvm::all_of(name, llvm::isDigit));
}

bool isConstantNodeName(StringRef name) {
  auto [scope, leaf] = name.rsplit('/');
  if (!leaf.consume_front("Constant") || !leaf.consume_back("_output_0"))
    return false;
  return leaf.empty() || (leaf.consume_front("_") && !leaf.empty() && all_of(leaf, isDigit));
}

bool isFoldedName(StringRef name) {
  // onnxruntime adds these prefixes to the names of a branch that replaces its If.
  while (name.consume_front("_if_then_branch_") || name.consume_front("_if_else_branch_")) {
  }
  // The exporter appends a number to the names of values in subgraphs, as in `val_0_2`.
  return name.consume_front("val_") && llvm::all_of(llvm::split(name, '_'), [](StringRef number) {
           return !number.empty() && llvm::all_of(number, llvm::isDigit);
         });
}

bool isGeneratedName(StringRef name) {
  if (isFoldedName(name) || isTorchScriptFoldedName(name))
    return true;
  name.consume_front("_v_");
  return !name.empty() && llvm::all_of(name, llvm::isDigit);
}

StringMap<InitializerClass> classifyInitializers(GraphOp graph) {
  StringMap<InitializerClass> classes = classifyByRules(graph);
  for (const TrainableConstant &constant : findTrainableConstants(graph, classes))
    if (auto entry = classes.find(constant.name); entry != classes.end()) {
      entry->second.looksTrainable = true;
      entry->second.moduleName = constant.moduleName;
    }
  return classes;
}

/// Freezes parameters without elements, which have neither gradients nor optimizer state.
static void freezeEmpty(GraphOp graph, StringMap<InitializerClass> &classes) {
  for (auto initializer : graph.getOps<InitializerOp>())
    if (auto known = classes.find(initializer.getName());
        known != classes.end() && known->second.role == InitializerRole::Parameter &&
        cast<RankedTensorType>(initializer.getType()).getNumElements() == 0) {
      known->second.role = InitializerRole::Frozen;
      known->second.reason = "has no element";
    }
}

/// Sets the role, reason and module name of each initializer. Integers are never trained.
static void describeInitializers(GraphOp graph, const StringMap<InitializerClass> &classes) {
  InitializerClass integers{InitializerRole::Constant, "integers are not trained", ""};
  InitializerClass counters{InitializerRole::State, updatedReason.str(), ""};
  for (auto initializer : graph.getOps<InitializerOp>()) {
    auto found = classes.find(initializer.getName());
    const InitializerClass &others = initializer->hasAttr(updatedAttribute) ? counters : integers;
    const InitializerClass &known = found == classes.end() ? others : found->second;
    initializer.setRole(roleName(known.role));
    initializer.setReason(known.reason);
    if (!known.moduleName.empty())
      initializer.setModuleName(known.moduleName);
  }
}

StringMap<InitializerClass> chooseParameters(GraphOp graph, const ParameterPatterns &patterns,
                                             Problems &problems) {
  StringMap<InitializerClass> classes = classifyInitializers(graph);
  applyPatterns(graph, patterns, classes, problems);
  freezeEmpty(graph, classes);
  describeInitializers(graph, classes);
  return classes;
}

StringMap<InitializerClass> chosenClasses(GraphOp graph) {
  StringMap<InitializerClass> classes = classifyInitializers(graph);
  for (InitializerOp initializer : trainableInitializers(graph)) {
    InitializerClass &known = classes[initializer.getName()];
    const StringRef *role = llvm::find(roleNames, initializer.getRole().value_or("constant"));
    known.role = static_cast<InitializerRole>(role - std::begin(roleNames));
    known.reason = initializer.getReason().value_or("").str();
    known.moduleName = initializer.getModuleName().value_or("").str();
    known.looksTrainable |= wasConstantNode(initializer);
  }
  return classes;
}

} // namespace mtc::onnx
