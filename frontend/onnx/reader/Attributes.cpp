//===- Attributes.cpp - Import of node attributes ---------------------------------------------===//

#include "frontend/onnx/reader/Attributes.h"

#include "frontend/onnx/reader/TensorData.h"

#include "mlir/IR/Builders.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir;
using ::onnx::AttributeProto;

namespace mtc::onnx {

namespace {

/// Returns the kinds whose fields are set. An empty list counts as unset, because protobuf does not
/// distinguish it from a missing list. Some writers also omit the number 0.
SmallVector<AttributeProto::AttributeType> kindsSet(const AttributeProto &attribute) {
  const std::pair<bool, AttributeProto::AttributeType> fields[] = {
      {attribute.has_f(), AttributeProto::FLOAT},
      {attribute.has_i(), AttributeProto::INT},
      {attribute.has_s(), AttributeProto::STRING},
      {attribute.has_t(), AttributeProto::TENSOR},
      {attribute.has_g(), AttributeProto::GRAPH},
      {attribute.has_sparse_tensor(), AttributeProto::SPARSE_TENSOR},
      {attribute.has_tp(), AttributeProto::TYPE_PROTO},
      {attribute.floats_size() > 0, AttributeProto::FLOATS},
      {attribute.ints_size() > 0, AttributeProto::INTS},
      {attribute.strings_size() > 0, AttributeProto::STRINGS},
      {attribute.tensors_size() > 0, AttributeProto::TENSORS},
      {attribute.graphs_size() > 0, AttributeProto::GRAPHS},
      {attribute.sparse_tensors_size() > 0, AttributeProto::SPARSE_TENSORS},
      {attribute.type_protos_size() > 0, AttributeProto::TYPE_PROTOS}};
  SmallVector<AttributeProto::AttributeType> kinds;
  for (auto [isSet, kind] : fields)
    if (isSet)
      kinds.push_back(kind);
  return kinds;
}

std::string kindName(AttributeProto::AttributeType kind) {
  return AttributeProto::AttributeType_Name(kind);
}

/// Returns the attribute's kind. Old exporters omit `type`; the kind then follows from the field
/// that is set. Adds a problem and returns UNDEFINED if kind and field contradict each other or
/// both are missing.
AttributeProto::AttributeType kindOf(const AttributeProto &attribute, const std::string &label,
                                     Problems &problems) {
  AttributeProto::AttributeType kind = attribute.type();
  SmallVector<AttributeProto::AttributeType> set = kindsSet(attribute);
  if (set.size() > 1) {
    problems.add(label + " has " + Twine(set.size()) + " values, of kinds " + kindName(set[0]) +
                 " and " + kindName(set[1]) + ", expected one");
    return AttributeProto::UNDEFINED;
  }
  if (kind == AttributeProto::UNDEFINED && !set.empty())
    return set.front();
  if (kind == AttributeProto::UNDEFINED)
    problems.add(label + " has no type and no value");
  else if (!set.empty() && set.front() != kind)
    problems.add(label + " is of kind " + kindName(kind) + ", but its value is of kind " +
                 kindName(set.front()));
  else
    return kind;
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
  NamedAttrList values, unsupported;
  for (const AttributeProto &written : node.attribute()) {
    const AttributeProto *attribute = resolve(written, bindings);
    if (!attribute)
      continue;
    StringRef name = written.name();
    std::string inside = "attribute " + quoted(name) + " of " + label;
    mlir::Attribute value;
    AttributeProto::AttributeType kind = kindOf(*attribute, inside, problems);
    switch (kind) {
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
    case AttributeProto::GRAPH: // Imported as a region of the node.
    case AttributeProto::UNDEFINED:
      break;
    default:
      unsupported.set(name, builder.getStringAttr(kindName(kind)));
    }
    if (value)
      values.set(name, value);
  }
  return {values.getDictionary(context), unsupported.getDictionary(context)};
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
  if (!attribute) {
    problems.add(label + ": its value is an attribute that the function's caller omits");
    return {};
  }
  std::string inside = "attribute " + quoted(name) + " of " + label;
  AttributeProto::AttributeType kind = kindOf(*attribute, inside, problems);
  if (kind == AttributeProto::UNDEFINED)
    return {};
  auto expected = llvm::StringSwitch<AttributeProto::AttributeType>(name)
                      .Case("value", AttributeProto::TENSOR)
                      .Case("value_float", AttributeProto::FLOAT)
                      .Case("value_int", AttributeProto::INT)
                      .Case("value_floats", AttributeProto::FLOATS)
                      .Case("value_ints", AttributeProto::INTS)
                      .Default(AttributeProto::UNDEFINED);
  if (expected == AttributeProto::UNDEFINED) {
    problems.add(label + " has a constant of kind " + quoted(name) +
                 ", which is not supported; expected a dense tensor of numbers");
    return {};
  }
  if (kind != expected) {
    problems.add(inside + " is of kind " + kindName(kind) + ", expected " + kindName(expected));
    return {};
  }
  Builder builder(context);
  switch (kind) {
  case AttributeProto::TENSOR:
    return importTensor(model, attribute->t(), label, context, problems);
  case AttributeProto::FLOAT:
    return DenseElementsAttr::get(RankedTensorType::get({}, builder.getF32Type()), attribute->f());
  case AttributeProto::INT:
    return DenseElementsAttr::get(RankedTensorType::get({}, builder.getI64Type()), attribute->i());
  case AttributeProto::FLOATS:
    return DenseElementsAttr::get(
        vectorType(attribute->floats_size(), builder.getF32Type()),
        ArrayRef<float>(attribute->floats().data(), attribute->floats_size()));
  default:
    return DenseElementsAttr::get(
        vectorType(attribute->ints_size(), builder.getI64Type()),
        ArrayRef<int64_t>(attribute->ints().data(), attribute->ints_size()));
  }
}

} // namespace mtc::onnx
