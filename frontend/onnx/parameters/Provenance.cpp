//===- Provenance.cpp - Mapping of initializers to the module's tensors -----------------------===//

#include "frontend/onnx/parameters/Provenance.h"

#include "frontend/onnx/dialect/FxValues.h"
#include "frontend/onnx/parameters/Parameters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

std::vector<std::string> stringsOf(Operation *op, StringRef attribute) {
  std::vector<std::string> result;
  if (auto list = op->getAttrOfType<ArrayAttr>(attribute))
    for (auto text : list.getAsRange<StringAttr>())
      result.push_back(text.str());
  return result;
}

/// Returns entry `index`, or an empty string past the end of the list, where the exporter created
/// the operand.
std::string entryOrNone(ArrayRef<std::string> list, size_t index) {
  return index < list.size() ? list[index] : std::string();
}

/// Returns whether a rewrite rule created the node from several nodes; such a node only has the
/// metadata of the last one.
bool hasMergedMetadata(Operation *node) {
  auto rules = node->getAttrOfType<StringAttr>(rulesAttribute);
  return rules && !llvm::all_of(llvm::split(rules.getValue(), ','), [](StringRef rule) {
           return rule.trim().starts_with(droppedBiasRule);
         });
}

} // namespace

StringRef fxOperator(NodeOp node) {
  auto name = node->getAttrOfType<StringAttr>(fxOperatorAttribute);
  return name ? name.getValue().rsplit('.').first : StringRef();
}

StringRef Provenance::splitName(InitializerOp initializer) {
  return initializer.getSplitFrom() ? initializer.getModuleName().value_or("") : "";
}

Provenance::Provenance(GraphOp graph) {
  for (const std::string &name : stringsOf(graph, signatureAttribute))
    parameters.insert(name);
  for (const std::string &name : stringsOf(graph, buffersAttribute))
    buffers.insert(name);
}

bool Provenance::hasVariables() const {
  return llvm::any_of(parameters, [](const auto &parameter) {
    return parameter.getKey().starts_with(liftedPrefix);
  });
}

bool Provenance::isOfModule(InitializerOp initializer) const {
  StringRef name = initializer.getName();
  auto isListed = [&](StringRef each) { return isParameter(each) || isBuffer(each); };
  return isListed(name) || isListed(splitName(initializer)) ||
         llvm::any_of(stringsOf(initializer, foldedFromAttribute), isListed);
}

std::vector<std::string> Provenance::foldedParameters(InitializerOp initializer) const {
  std::vector<std::string> result = stringsOf(initializer, foldedFromAttribute);
  llvm::erase_if(result, [&](const std::string &name) { return !isParameter(name); });
  return result;
}

bool Provenance::keepsValues(InitializerOp initializer) const {
  if (!isFolded(initializer))
    return true;
  auto changesLayoutOnly = [&](StringRef name) {
    return isParameter(name) || isBuffer(name) || isFoldedName(name) || keepsElements(name);
  };
  return changesLayoutOnly(initializer.getSplitFrom().value_or(initializer.getName())) &&
         llvm::all_of(stringsOf(initializer, foldedFromAttribute), changesLayoutOnly);
}

std::optional<std::string> Provenance::tensorAt(InitializerOp initializer,
                                                const InitializerUse &use) const {
  StringRef name = initializer.getName();
  if (!isOfModule(initializer))
    return std::nullopt;
  if (hasMergedMetadata(use.node))
    return isParameter(name) || isBuffer(name) ? std::optional(name.str()) : std::nullopt;
  std::vector<std::string> arguments = stringsOf(use.node, argumentsAttribute);
  if (arguments.empty())
    return std::nullopt;
  std::vector<std::string> weights, statistics;
  for (const std::string &argument : arguments) {
    if (isParameter(argument))
      weights.push_back(argument);
    else if (isBuffer(argument))
      statistics.push_back(argument);
  }

  // The operands of normalizations correspond to the arguments by position.
  NodeOp node = use.node;
  StringRef op = fxOperator(node);
  if (node.isOperator("BatchNormalization") && use.operand >= 1)
    return use.operand < 3 ? entryOrNone(weights, use.operand - 1)
                           : entryOrNone(statistics, use.operand - 3);
  if (node.isOperator("InstanceNormalization") && op != "aten.instance_norm")
    return std::string(); // A group normalization; later nodes apply its scale and shift.
  if ((node.isOperator("LayerNormalization") || node.isOperator("InstanceNormalization") ||
       node.isOperator("GroupNormalization")) &&
      use.operand >= 1)
    return entryOrNone(weights, use.operand - 1);
  if (op == "aten.group_norm" || op == "aten.native_group_norm") {
    if (node.isOperator("Mul"))
      return entryOrNone(weights, 0);
    if (node.isOperator("Add"))
      return entryOrNone(weights, 1);
  }

  if (llvm::is_contained(arguments, name) || llvm::is_contained(arguments, ("%" + name).str()))
    return name.str();
  for (const std::string &origin : foldedParameters(initializer))
    if (llvm::is_contained(arguments, origin))
      return origin;
  // The exporter merged the initializer with the tensor that the module uses here.
  std::vector<std::string> candidates = weights;
  candidates.insert(candidates.end(), statistics.begin(), statistics.end());
  if (candidates.size() == 1)
    return candidates.front();
  bool isBias = isBiasOperand(use);
  llvm::erase_if(candidates, [&](StringRef candidate) {
    return candidate.rsplit('.').second.contains("bias") != isBias;
  });
  if (candidates.size() == 1)
    return candidates.front();
  llvm::StringSet<> set;
  set.insert(candidates.begin(), candidates.end());
  std::string found = parameterOfUse(use, set);
  return found.empty() ? std::nullopt : std::optional(found);
}

} // namespace mtc::onnx
