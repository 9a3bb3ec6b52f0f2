//===- Attributes.cpp - A node's attributes
//-----------------------------------------------------===//

#include "frontend/reader/Attributes.h"
#include "frontend/reader/TensorData.h"

#include "mlir/IR/Builders.h"
#include "onnx-ml.pb.h"

using namespace mlir;
using namespace mtc::onnx;
using ::onnx::AttributeProto;

static llvm::Error error(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// The kind of an attribute; files of IR version 1 leave it out, and it follows from what is there.
static AttributeProto::AttributeType kindOf(const AttributeProto &attribute) {
  if (attribute.has_type() && attribute.type() != AttributeProto::UNDEFINED)
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
  if (attribute.floats_size())
    return AttributeProto::FLOATS;
  if (attribute.strings_size())
    return AttributeProto::STRINGS;
  return AttributeProto::INTS;
}

static llvm::Expected<Attribute> importAttribute(const AttributeProto &attribute, Model &model,
                                                 Builder &builder) {
  switch (kindOf(attribute)) {
  case AttributeProto::FLOAT:
    return builder.getF32FloatAttr(attribute.f());
  case AttributeProto::INT:
    return IntegerAttr::get(builder.getIntegerType(64, /*isSigned=*/true),
                            APInt(64, static_cast<uint64_t>(attribute.i())));
  case AttributeProto::STRING:
    return builder.getStringAttr(attribute.s());
  case AttributeProto::FLOATS:
    return DenseF32ArrayAttr::get(
        builder.getContext(),
        SmallVector<float>(attribute.floats().begin(), attribute.floats().end()));
  case AttributeProto::INTS:
    return DenseI64ArrayAttr::get(
        builder.getContext(),
        SmallVector<int64_t>(attribute.ints().begin(), attribute.ints().end()));
  case AttributeProto::STRINGS: {
    SmallVector<Attribute> strings;
    for (const std::string &text : attribute.strings())
      strings.push_back(builder.getStringAttr(text));
    return builder.getArrayAttr(strings);
  }
  case AttributeProto::TENSOR: {
    llvm::Expected<RankedTensorType> type = tensorType(builder.getContext(), attribute.t());
    if (!type)
      return type.takeError();
    llvm::Expected<ArrayRef<char>> bytes = model.tensorBytes(attribute.t(), *type);
    if (!bytes)
      return bytes.takeError();
    return denseFromBytes(*type, *bytes);
  }
  default:
    return Attribute(); // Subgraphs, sparse tensors, types: named as unsupported.
  }
}

llvm::Expected<DictionaryAttr> mtc::onnx::importAttributes(const ::onnx::NodeProto &node,
                                                           Model &model, MLIRContext &context) {
  Builder builder(&context);
  NamedAttrList list;
  SmallVector<Attribute> unsupported;
  for (const AttributeProto &attribute : node.attribute()) {
    if (attribute.name().empty())
      return error("an attribute has no name");
    if (list.get(attribute.name()))
      return error("attribute '" + attribute.name() + "' is given twice");
    llvm::Expected<Attribute> value = importAttribute(attribute, model, builder);
    if (!value)
      return error("attribute '" + attribute.name() + "': " + llvm::toString(value.takeError()));
    if (*value)
      list.set(attribute.name(), *value);
    else
      unsupported.push_back(builder.getStringAttr(attribute.name()));
  }
  if (!unsupported.empty())
    list.set("unsupported_attributes", builder.getArrayAttr(unsupported));
  return list.getDictionary(&context);
}

DenseElementsAttr mtc::onnx::constantValue(DictionaryAttr attributes) {
  auto tensorOf = [](int64_t count, bool isList, Type element) {
    return RankedTensorType::get(isList ? ArrayRef<int64_t>(count) : ArrayRef<int64_t>(), element);
  };
  Builder builder(attributes.getContext());
  if (auto value = attributes.getAs<DenseElementsAttr>("value"))
    return value;
  if (auto value = attributes.getAs<IntegerAttr>("value_int"))
    return DenseElementsAttr::get(tensorOf(1, false, builder.getI64Type()), value.getValue());
  if (auto value = attributes.getAs<FloatAttr>("value_float"))
    return DenseElementsAttr::get(tensorOf(1, false, builder.getF32Type()), value.getValue());
  if (auto value = attributes.getAs<DenseI64ArrayAttr>("value_ints"))
    return DenseElementsAttr::get(tensorOf(value.size(), true, builder.getI64Type()),
                                  value.asArrayRef());
  if (auto value = attributes.getAs<DenseF32ArrayAttr>("value_floats"))
    return DenseElementsAttr::get(tensorOf(value.size(), true, builder.getF32Type()),
                                  value.asArrayRef());
  return {};
}
