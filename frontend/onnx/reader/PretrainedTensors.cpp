//===- PretrainedTensors.cpp - Tensors of save_pretrained in metadata -------------------------===//

#include "frontend/onnx/reader/PretrainedTensors.h"

#include "frontend/onnx/reader/MetadataKeys.h"
#include "ir/attributes/TensorImage.h"

#include "mlir/IR/Diagnostics.h"

using namespace llvm;

namespace mtc::onnx {

std::optional<std::vector<int64_t>> integersOf(const json::Array *list) {
  if (!list)
    return std::nullopt;
  std::vector<int64_t> integers;
  for (const json::Value &value : *list) {
    std::optional<int64_t> integer = value.getAsInteger();
    if (!integer)
      return std::nullopt;
    integers.push_back(*integer);
  }
  return integers;
}

/// Parses [variable, image, extents, variable strides, image strides].
static std::optional<PretrainedTensor::Part> parsePart(const json::Value &value) {
  const json::Array *fields = value.getAsArray();
  if (!fields || fields->size() != 5)
    return std::nullopt;
  std::optional<int64_t> variable = (*fields)[0].getAsInteger(),
                         image = (*fields)[1].getAsInteger();
  auto extents = integersOf((*fields)[2].getAsArray()),
       variableStrides = integersOf((*fields)[3].getAsArray()),
       imageStrides = integersOf((*fields)[4].getAsArray());
  if (!variable || !image || !extents || !variableStrides || !imageStrides)
    return std::nullopt;
  return PretrainedTensor::Part{*variable, *image, std::move(*extents), std::move(*variableStrides),
                                std::move(*imageStrides)};
}

std::optional<std::vector<PretrainedTensor>> parsePretrainedTensors(const json::Array &list) {
  std::vector<PretrainedTensor> tensors;
  for (const json::Value &value : list) {
    const json::Object *object = value.getAsObject();
    std::optional<StringRef> name = object ? object->getString("name") : std::nullopt;
    auto shape = object ? integersOf(object->getArray("shape")) : std::nullopt;
    if (!name || !shape)
      return std::nullopt;
    tensors.push_back({name->str(), std::move(*shape), {}});
    if (const json::Array *parts = object->getArray("parts"))
      for (const json::Value &each : *parts) {
        std::optional<PretrainedTensor::Part> part = parsePart(each);
        if (!part)
          return std::nullopt;
        tensors.back().parts.push_back(std::move(*part));
      }
  }
  return tensors;
}

/// Returns the images of these tensors in a variable of this type. Null, after `emitError`, if a
/// tensor is no image.
static mlir::ArrayAttr imagesOf(ArrayRef<PretrainedTensor> tensors, mlir::RankedTensorType type,
                                function_ref<mlir::InFlightDiagnostic()> emitError) {
  mlir::MLIRContext *context = type.getContext();
  SmallVector<mlir::Attribute> images;
  for (const PretrainedTensor &tensor : tensors) {
    SmallVector<ImagePartAttr> parts;
    for (const PretrainedTensor::Part &part : tensor.parts)
      parts.push_back(ImagePartAttr::get(context, part.variable, part.image, part.extents,
                                         part.variableStrides, part.imageStrides));
    auto image = TensorImageAttr::getChecked(emitError, context, StringRef(tensor.name),
                                             ArrayRef(tensor.shape), ArrayRef(parts));
    if (!image)
      return {};
    images.push_back(image);
  }
  auto list = mlir::ArrayAttr::get(context, images);
  return failed(verifyTensorImages(emitError, type, list, {})) ? mlir::ArrayAttr() : list;
}

void describePretrained(InitializerOp initializer, ArrayRef<PretrainedTensor> tensors,
                        Problems &problems) {
  auto type = dyn_cast<mlir::RankedTensorType>(initializer.getType());
  if (tensors.empty() || !type || !type.hasStaticShape())
    return;
  std::string reason;
  mlir::ScopedDiagnosticHandler handler(initializer.getContext(),
                                        [&](mlir::Diagnostic &diagnostic) {
                                          reason = diagnostic.str();
                                          return mlir::success();
                                        });
  if (mlir::ArrayAttr images =
          imagesOf(tensors, type, [&] { return mlir::emitError(initializer.getLoc()); }))
    initializer.setPretrainedImagesAttr(images);
  else
    problems.add("metadata '" + moduleKey + "': 'pretrained' of " + quoted(initializer.getName()) +
                 ": " + reason + "; export the module again with mtc.export");
}

} // namespace mtc::onnx
