//===- Attributes.cpp - Attributes of nodes ---------------------------------------------------===//

#include "frontend/reader/Attributes.h"

#include "frontend/reader/TensorData.h"

#include "mlir/IR/Builders.h"
#include "onnx-ml.pb.h"

using namespace llvm;
using namespace mlir;
using ::onnx::AttributeProto;

namespace mtc::onnx {

namespace {

/// The attribute's kind; files of old exporters leave it to the field that is set.
AttributeProto::AttributeType kindOf(const AttributeProto &attribute) {
  if (attribute.type() != AttributeProto::UNDEFINED)
    return attribute.type();
  if (attribute.has_f())
    return AttributeProto::FLOAT;
  if (attribute.has_i())
    return AttributeProto::INT;
  if (attribute.has_s())
    return AttributeProto::STRING;
  if (attribute.has_t())
    return AttributeProto::TENSOR;
  if (attribute.has_g())
    return AttributeProto::GRAPH;
  if (attribute.floats_size() > 0)
    return AttributeProto::FLOATS;
  if (attribute.ints_size() > 0)
    return AttributeProto::INTS;
  if (attribute.strings_size() > 0)
    return AttributeProto::STRINGS;
  return AttributeProto::UNDEFINED;
}

DenseElementsAttr importTensor(Model &model, const ::onnx::TensorProto &tensor,
                               const std::string &label, MLIRContext *context, Problems &problems) {
  llvm::Expected<ArrayRef<char>> bytes = model.tensorBytes(tensor);
  if (!bytes) {
    problems.add(label + ": " + toString(bytes.takeError()));
    return {};
  }
  return denseElements(tensorType(tensor, context), *bytes);
}

RankedTensorType vectorType(int64_t size, mlir::Type element) {
  return RankedTensorType::get({size}, element);
}

} // namespace

const AttributeProto *resolve(const AttributeProto &attribute, const AttributeBindings &bindings) {
  return attribute.ref_attr_name().empty() ? &attribute
                                           : bindings.lookup(attribute.ref_attr_name());
}

NodeAttributes importAttributes(Model &model, const ::onnx::NodeProto &node,
                                const AttributeBindings &bindings, const std::string &label,
                                MLIRContext *context, Problems &problems) {
  Builder builder(context);
  NamedAttrList values;
  NodeAttributes result;
  for (const AttributeProto &written : node.attribute()) {
    const AttributeProto *attribute = resolve(written, bindings);
    if (!attribute)
      continue;
    StringRef name = written.name();
    std::string inside = "attribute " + quoted(name) + " of " + label;
    mlir::Attribute value;
    switch (kindOf(*attribute)) {
    case AttributeProto::FLOAT:
      value = builder.getF32FloatAttr(attribute->f());
      break;
    case AttributeProto::INT:
      value = builder.getIntegerAttr(builder.getIntegerType(64, /*isSigned=*/true), attribute->i());
      break;
    case AttributeProto::STRING:
      value = builder.getStringAttr(attribute->s());
      break;
    case AttributeProto::FLOATS:
      value = builder.getDenseF32ArrayAttr(
          ArrayRef<float>(attribute->floats().data(), attribute->floats_size()));
      break;
    case AttributeProto::INTS:
      value = builder.getDenseI64ArrayAttr(
          ArrayRef<int64_t>(attribute->ints().data(), attribute->ints_size()));
      break;
    case AttributeProto::STRINGS:
      value = builder.getStrArrayAttr(
          SmallVector<StringRef>(attribute->strings().begin(), attribute->strings().end()));
      break;
    case AttributeProto::TENSOR:
      value = importTensor(model, attribute->t(), inside, context, problems);
      break;
    case AttributeProto::UNDEFINED:
      problems.add(inside + " has no type and no value");
      break;
    default:
      result.unsupported.push_back(builder.getStringAttr(name));
    }
    if (value)
      values.set(name, value);
  }
  result.values = values.getDictionary(context);
  return result;
}

DenseElementsAttr importConstant(Model &model, const ::onnx::NodeProto &node,
                                 const AttributeBindings &bindings, const std::string &label,
                                 MLIRContext *context, Problems &problems) {
  if (node.attribute_size() != 1) {
    problems.add(label + " has " + Twine(node.attribute_size()) +
                 " attributes, expected one: the value");
    return {};
  }
  StringRef name = node.attribute(0).name();
  const AttributeProto *attribute = resolve(node.attribute(0), bindings);
  Builder builder(context);
  if (!attribute) {
    problems.add(label + ": its value is an attribute that the function's caller leaves out");
  } else if (name == "value") {
    return importTensor(model, attribute->t(), label, context, problems);
  } else if (name == "value_float") {
    return DenseElementsAttr::get(RankedTensorType::get({}, builder.getF32Type()), attribute->f());
  } else if (name == "value_int") {
    return DenseElementsAttr::get(RankedTensorType::get({}, builder.getI64Type()), attribute->i());
  } else if (name == "value_floats") {
    return DenseElementsAttr::get(
        vectorType(attribute->floats_size(), builder.getF32Type()),
        ArrayRef<float>(attribute->floats().data(), attribute->floats_size()));
  } else if (name == "value_ints") {
    return DenseElementsAttr::get(
        vectorType(attribute->ints_size(), builder.getI64Type()),
        ArrayRef<int64_t>(attribute->ints().data(), attribute->ints_size()));
  } else {
    problems.add(label + " has a constant of kind " + quoted(name) +
                 ", which is not supported; expected numbers in a dense tensor");
  }
  return {};
}

} // namespace mtc::onnx
