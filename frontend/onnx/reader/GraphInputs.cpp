//===- GraphInputs.cpp - Types of graph inputs and bound values -------------------------------===//

#include "frontend/onnx/reader/GraphInputs.h"

#include "frontend/Dimensions.h"
#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/reader/Model.h"
#include "frontend/onnx/reader/TensorData.h"
#include "ir/TypeCode.h"
#include "support/compiler/Npy.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "onnx-ml.pb.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

/// Returns the extents, with `kDynamic` for unknown ones.
SmallVector<int64_t> extentsOf(const ::onnx::ValueInfoProto &value,
                               const StringMap<int64_t> &bindings) {
  SmallVector<int64_t> shape;
  for (auto [axis, dim] : llvm::enumerate(value.type().tensor_type().shape().dim())) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      shape.push_back(dim.dim_value());
    else
      shape.push_back(evaluateDimension(dimensionText(value, static_cast<int>(axis)), bindings)
                          .value_or(ShapedType::kDynamic));
  }
  return shape;
}

/// Returns the size of the known extents; fails if it exceeds `maxTensorBytes`, so that products of
/// extents do not overflow.
llvm::Expected<uint64_t> sizeOf(ArrayRef<int64_t> shape, int64_t dataType) {
  SmallVector<int64_t> known = llvm::to_vector(llvm::make_filter_range(
      shape, [](int64_t extent) { return extent != ShapedType::kDynamic; }));
  return tensorBytes(known, dataType);
}

std::string typeText(mlir::Type type) {
  std::string text;
  raw_string_ostream(text) << type;
  return text;
}

/// Parses a number as an attribute of this type; returns null if the text is not a number or out of
/// range.
mlir::Attribute parseNumber(StringRef text, mlir::Type type) {
  if (auto floating = dyn_cast<FloatType>(type)) {
    double number;
    if (text.getAsDouble(number))
      return {};
    APFloat value(number);
    bool losesInfo;
    value.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    const bool isNamed = text.contains_insensitive("inf");
    return value.isInfinity() && !isNamed ? FloatAttr() : FloatAttr::get(floating, value);
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return {};
  unsigned width = integer.getWidth();
  if (width == 1) {
    bool isTrue = text.equals_insensitive("true") || text == "1";
    bool isFalse = text.equals_insensitive("false") || text == "0";
    return isTrue || isFalse ? BoolAttr::get(type.getContext(), isTrue) : mlir::Attribute();
  }
  APInt value(width, 0);
  if (integer.isUnsigned()) {
    uint64_t number;
    if (text.getAsInteger(10, number) || !llvm::isUIntN(width, number))
      return {};
    value = APInt(width, number);
  } else {
    int64_t number;
    if (text.getAsInteger(10, number) || !llvm::isIntN(width, number))
      return {};
    value = APInt(width, number, /*isSigned=*/true);
  }
  return IntegerAttr::get(type, value);
}

} // namespace

std::vector<ModelInput> modelInputs(const Model &model) {
  std::vector<ModelInput> result;
  for (const auto &input : model.proto().graph().input()) {
    if (model.hasInitializer(input.name())) // In IR 3, initializers are listed as inputs too.
      continue;
    ModelInput &entry = result.emplace_back(ModelInput{input.name(), {}});
    for (int axis = 0; axis < input.type().tensor_type().shape().dim_size(); ++axis)
      entry.dims.push_back(dimensionText(input, axis));
  }
  return result;
}

TensorType declaredType(const ::onnx::ValueInfoProto &value, const StringMap<int64_t> &bindings,
                        MLIRContext *context) {
  const auto &tensor = value.type().tensor_type();
  mlir::Type element = elementTypeFromOnnx(context, tensor.elem_type());
  if (!value.type().has_tensor_type() || !element)
    return {};
  SmallVector<int64_t> shape = extentsOf(value, bindings);
  llvm::Expected<uint64_t> size = sizeOf(shape, tensor.elem_type());
  if (!tensor.has_shape() || !size) {
    consumeError(size.takeError());
    return UnrankedTensorType::get(element);
  }
  return RankedTensorType::get(shape, element);
}

std::string declarationProblem(const ::onnx::ValueInfoProto &value, MLIRContext *context) {
  const auto &type = value.type();
  if (type.value_case() == ::onnx::TypeProto::VALUE_NOT_SET)
    return {};
  if (!type.has_tensor_type())
    return "is declared as a sequence, map, optional or sparse value; mtc supports only dense "
           "tensors";
  int64_t dataType = type.tensor_type().elem_type();
  if (dataType != ::onnx::TensorProto::UNDEFINED && !elementTypeFromOnnx(context, dataType))
    return "is declared with elements of type " + onnxDataTypeName(dataType) +
           ", expected numbers or booleans";
  // Some exporters write -1 for an unnamed dimension.
  for (const auto &dim : type.tensor_type().shape().dim())
    if (dim.has_dim_value() && dim.dim_value() < -1)
      return "is declared with an extent of " + std::to_string(dim.dim_value()) +
             ", expected 0 or more";
  return {};
}

TensorType inputType(const ::onnx::ValueInfoProto &input, const StringMap<int64_t> &bindings,
                     MLIRContext *context, Problems &problems) {
  std::string label = "graph input " + quoted(input.name());
  const auto &type = input.type();
  if (!type.has_tensor_type()) {
    problems.add(label + " is not a tensor; sequences, maps and optional values are not "
                         "supported as inputs");
    return {};
  }
  if (!type.tensor_type().has_shape()) {
    problems.add(label + " has no shape; export the model with the inputs' ranks");
    return {};
  }
  for (auto [axis, dim] : llvm::enumerate(type.tensor_type().shape().dim()))
    if (dim.has_dim_value() && dim.dim_value() < -1) {
      problems.add(label + ": dimension " + Twine(axis) + " is " + Twine(dim.dim_value()) +
                   ", expected 0 or more");
      return {};
    }
  llvm::Expected<uint64_t> size =
      sizeOf(extentsOf(input, bindings), type.tensor_type().elem_type());
  if (!size) {
    problems.add(label + ": " + toString(size.takeError()));
    return {};
  }
  return declaredType(input, bindings, context);
}

SmallVector<std::string> dimensionTexts(const ::onnx::ValueInfoProto &input) {
  SmallVector<std::string> result;
  for (auto [axis, dim] : llvm::enumerate(input.type().tensor_type().shape().dim())) {
    bool isWritten = dim.has_dim_value() && dim.dim_value() >= 0;
    result.push_back(isWritten ? "" : dimensionText(input, static_cast<int>(axis)));
  }
  return result;
}

llvm::Expected<DenseElementsAttr> boundValue(StringRef text, TensorType type) {
  mlir::Type element = type.getElementType();
  if (text.ends_with(".npy")) {
    llvm::Expected<NpyArray> array = readNpy(text);
    if (!array)
      return array.takeError();
    // The names of types are those of MLIR.
    auto found = RankedTensorType::get(array->shape,
                                       mlir::parseType(typeName(array->type), type.getContext()));
    if (found.getElementType() != element ||
        (type.hasRank() && failed(verifyCompatibleShape(found, type))))
      return problem("file " + quoted(text) + " holds " + typeText(found) + ", expected " +
                     typeText(type));
    return denseElements(found, array->bytes);
  }

  SmallVector<StringRef> texts;
  text.split(texts, ',');
  SmallVector<mlir::Attribute> values;
  for (StringRef number : texts) {
    mlir::Attribute value = parseNumber(number.trim(), element);
    if (!value)
      return problem(quoted(number.trim()) + " is not a value of type " + typeText(element) +
                     "; expected numbers or a .npy file");
    values.push_back(value);
  }
  auto shaped = dyn_cast<RankedTensorType>(type);
  bool isStatic = shaped && shaped.hasStaticShape();
  int64_t count = values.size();
  if (isStatic && count != 1 && count != shaped.getNumElements())
    return problem(Twine(count) + " values for " + typeText(type) + ", expected one or " +
                   Twine(shaped.getNumElements()));
  // The length of a list determines the only unknown extent.
  if (!isStatic && count > 1 && shaped && shaped.getRank() == 1)
    shaped = RankedTensorType::get({count}, element);
  else if (!isStatic)
    return problem("the input has type " + typeText(type) +
                   "; use --dim NAME=N to set its dimensions, or a .npy file");
  return DenseElementsAttr::get(shaped, values);
}

} // namespace mtc::onnx
