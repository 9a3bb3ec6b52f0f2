//===- SchemaCheck.cpp - Checks of a node against its operator's schema -----------------------===//

#include "frontend/onnx/dialect/Node.h"
#include "frontend/onnx/dialect/Schema.h"
#include "frontend/onnx/dialect/Shapes.h"
#include "support/terminal/suggestions.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;

namespace mtc::onnx {
namespace {

/// Returns the ONNX kind of an attribute of `onnx.node`.
StringRef kindOf(Attribute attribute) {
  return llvm::TypeSwitch<Attribute, StringRef>(attribute)
      .Case([](IntegerAttr) { return "INT"; })
      .Case([](FloatAttr) { return "FLOAT"; })
      .Case([](StringAttr) { return "STRING"; })
      .Case([](DenseI64ArrayAttr) { return "INTS"; })
      .Case([](DenseF32ArrayAttr) { return "FLOATS"; })
      .Case([](ArrayAttr) { return "STRINGS"; })
      .Case([](ElementsAttr) { return "TENSOR"; })
      .Default([](Attribute) { return "unknown"; });
}

/// Returns ` = VALUE`, or an empty string for tensors and long values.
std::string valueText(NodeView &node, StringRef name) {
  constexpr size_t longest = 60;
  Attribute value = node.attribute(name);
  std::string text = value && !isa<ElementsAttr>(value) ? llvm::to_string(value) : "";
  return text.empty() || text.size() > longest ? "" : " = " + text;
}

LogicalResult checkAttribute(NodeView &node, const Schema &schema, StringRef name, StringRef kind) {
  // The standard reserves names with this prefix for tools.
  if (name.starts_with("__"))
    return success();
  const auto *known = llvm::find_if(
      schema.attributes, [&](const AttributeSchema &attribute) { return attribute.name == name; });
  if (known == schema.attributes.end()) {
    SmallVector<StringRef> names;
    for (const AttributeSchema &attribute : schema.attributes)
      names.push_back(attribute.name);
    std::string suggestion = terminal::suggestNames(name, names);
    if (suggestion.empty())
      suggestion = names.empty() ? ", expected none" : ", expected " + llvm::join(names, ", ");
    return node.failure("has an unknown attribute '" + name + "'" + suggestion);
  }
  if (known->kind != kind)
    return node.failure("attribute " + name + valueText(node, name) + " has kind " + kind +
                        ", expected " + known->kind);
  return success();
}

LogicalResult checkCount(NodeView &node, const Signature &signature, size_t count,
                         const Twine &what) {
  std::optional<size_t> maximum = signature.maximum();
  if (count >= signature.minimum() && count <= maximum.value_or(SIZE_MAX))
    return success();
  std::string expected = std::to_string(signature.minimum());
  if (!maximum)
    expected += " or more";
  else if (*maximum != signature.minimum())
    expected += ".." + std::to_string(*maximum);
  return node.failure("has " + Twine(count) + " " + what + ", expected " + expected);
}

} // namespace

LogicalResult checkAttributes(NodeView &node, const Schema &schema) {
  if (schema.isDeprecated)
    return node.failure("removed in opset version " + Twine(schema.sinceVersion) +
                        "; convert the model with onnx.version_converter or export it again");
  for (NamedAttribute attribute : node.op().getNodeAttributes())
    if (failed(checkAttribute(node, schema, attribute.getName(), kindOf(attribute.getValue()))))
      return failure();
  auto others = node.op()->getAttrOfType<DictionaryAttr>("unsupported_attributes");
  if (others)
    for (NamedAttribute attribute : others)
      if (failed(checkAttribute(node, schema, attribute.getName(),
                                cast<StringAttr>(attribute.getValue()))))
        return failure();
  if (ArrayAttr graphs = node.op().getGraphNamesAttr())
    for (auto name : graphs.getAsRange<StringAttr>())
      if (failed(checkAttribute(node, schema, name, "GRAPH")))
        return failure();
  for (const AttributeSchema &attribute : schema.attributes)
    if (attribute.isRequired && !node.hasAttribute(attribute.name) && !node.graph(attribute.name) &&
        !(others && others.contains(attribute.name)))
      return node.failure("attribute " + attribute.name + " is missing, expected " +
                          attribute.kind);
  return success();
}

LogicalResult checkArity(NodeView &node, const Schema &schema) {
  if (failed(checkCount(node, schema.operands, node.operandCount(), "operands")) ||
      failed(checkCount(node, schema.results, node.resultCount(), "results")))
    return failure();
  for (size_t i = 0; i < node.operandCount(); ++i)
    if (!node.has(i) && !schema.operands.find(i)->isOptional)
      return node.failure(node.operandName(i) + " is required, but omitted");
  for (size_t i = 0; i < node.resultCount(); ++i)
    if (!node.wants(i) && !schema.results.find(i)->isOptional)
      return node.failure("result " + Twine(i) + " (" + schema.results.find(i)->name +
                          ") is required, but omitted");
  return success();
}

LogicalResult checkElementTypes(NodeView &node, const Schema &schema) {
  llvm::StringMap<size_t> firstOf; // The first operand with each type parameter.
  for (size_t i = 0; i < node.operandCount(); ++i) {
    if (!node.has(i))
      continue;
    StringRef parameter = schema.operands.find(i)->typeParameter;
    auto allowed = schema.elementTypes.find(parameter);
    if (allowed == schema.elementTypes.end())
      continue;
    std::string type = llvm::to_string(node.elementType(i));
    if (!llvm::is_contained(allowed->second, type))
      return node.failure(Twine(node.operandName(i)) + " has element type " + type + ", expected " +
                          (allowed->second.size() > 1 ? "one of " : "") +
                          llvm::join(allowed->second, ", "));
    auto [first, isNew] = firstOf.try_emplace(parameter, i);
    if (!isNew && !node.sameElementType(first->second, i))
      return failure();
  }
  return success();
}

} // namespace mtc::onnx
