//===- TensorData.cpp - The bytes of a TensorProto
//----------------------------------------------===//

#include "frontend/reader/TensorData.h"
#include "frontend/dialect/ElementTypes.h"
#include "ir/Mtc.h"

#include "onnx-ml.pb.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace mtc::onnx;
using llvm::Error;
using llvm::Expected;
using ::onnx::TensorProto;

static Error error(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

Expected<RankedTensorType> mtc::onnx::tensorType(MLIRContext *context, const TensorProto &tensor) {
  Type element = elementTypeFromOnnx(context, tensor.data_type());
  if (!element)
    return error("the element type " + onnxDataTypeName(tensor.data_type()) + " is not supported");
  int64_t bytes = mtc::elementBytes(element);
  for (int64_t extent : tensor.dims()) {
    if (extent < 0)
      return error("a dimension is negative: " + llvm::Twine(extent));
    if (extent != 0 && bytes > (int64_t(1) << 62) / extent)
      return error("the dimensions' product is beyond what memory can hold");
    bytes *= extent;
  }
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  return RankedTensorType::get(shape, element);
}

/// Copies a repeated field of wider numbers into elements of `width` bytes.
template <typename Field>
static Error pack(const Field &field, int64_t count, unsigned width, std::vector<char> &storage) {
  if (field.size() != count)
    return error(
        llvm::formatv("holds {0} elements, the shape needs {1}", field.size(), count).str());
  storage.resize(count * width);
  for (int64_t i = 0; i < count; ++i) {
    auto value = field.Get(i);
    std::memcpy(storage.data() + i * width, &value, width); // Little-endian: the low bytes.
  }
  return Error::success();
}

static Error packTyped(const TensorProto &tensor, int64_t count, unsigned width,
                       std::vector<char> &storage) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return pack(tensor.float_data(), count, width, storage);
  case TensorProto::DOUBLE:
    return pack(tensor.double_data(), count, width, storage);
  case TensorProto::INT64:
    return pack(tensor.int64_data(), count, width, storage);
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return pack(tensor.uint64_data(), count, width, storage);
  default: // The narrower types lie in 32-bit integers, floats by their bits.
    return pack(tensor.int32_data(), count, width, storage);
  }
}

Expected<ArrayRef<char>> mtc::onnx::tensorBytes(const TensorProto &tensor, RankedTensorType type,
                                                ExternalFiles &files, std::vector<char> &storage) {
  int64_t bytes = mtc::byteSize(type);
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    Expected<ExternalLocation> location = parseExternalLocation(tensor);
    if (!location)
      return location.takeError();
    return files.read(*location, bytes);
  }
  if (tensor.has_segment())
    return error("is stored in segments, which is not supported");
  if (tensor.has_raw_data()) {
    if (static_cast<int64_t>(tensor.raw_data().size()) != bytes)
      return error(llvm::formatv("holds {0} bytes of raw data, the shape needs {1}",
                                 tensor.raw_data().size(), bytes)
                       .str());
    return ArrayRef<char>(tensor.raw_data().data(), bytes);
  }
  if (Error failure = packTyped(tensor, type.getNumElements(),
                                mtc::elementBytes(type.getElementType()), storage))
    return std::move(failure);
  return ArrayRef<char>(storage);
}

DenseElementsAttr mtc::onnx::denseFromBytes(RankedTensorType type, ArrayRef<char> bytes) {
  if (type.getNumElements() == 0)
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  if (type.getElementType().isInteger(1)) {
    // In an attribute booleans are bits.
    SmallVector<bool> values = llvm::map_to_vector(bytes, [](char byte) { return byte != 0; });
    return DenseElementsAttr::get(type, values);
  }
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}
