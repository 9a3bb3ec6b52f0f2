//===- TensorData.cpp - Element data of a TensorProto -----------------------------------------===//

#include "frontend/onnx/reader/TensorData.h"

#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/dialect/Shapes.h"
#include "support/compiler/Problems.h"

#include "onnx-ml.pb.h"

#include <bit>
#include <cstring>

using namespace llvm;
using ::onnx::TensorProto;

namespace mtc::onnx {

static_assert(std::endian::native == std::endian::little, "ONNX's raw data is little-endian");

namespace {

/// The data fields of a tensor, with their number of elements.
struct Fields {
  explicit Fields(const TensorProto &tensor)
      : hasRaw(tensor.has_raw_data()), floats(tensor.float_data_size()),
        int32s(tensor.int32_data_size()), int64s(tensor.int64_data_size()),
        doubles(tensor.double_data_size()), uint64s(tensor.uint64_data_size()),
        strings(tensor.string_data_size()) {}

  int64_t used() const {
    return hasRaw + (floats > 0) + (int32s > 0) + (int64s > 0) + (doubles > 0) + (uint64s > 0) +
           (strings > 0);
  }

  /// Returns the typed field that onnx.proto specifies for elements of this type.
  std::pair<StringRef, int64_t> holding(int64_t dataType) const {
    switch (dataType) {
    case TensorProto::FLOAT:
      return {"float_data", floats};
    case TensorProto::DOUBLE:
      return {"double_data", doubles};
    case TensorProto::INT64:
      return {"int64_data", int64s};
    case TensorProto::UINT32:
    case TensorProto::UINT64:
      return {"uint64_data", uint64s};
    default:
      return {"int32_data", int32s};
    }
  }

  bool hasRaw;
  int64_t floats, int32s, int64s, doubles, uint64s, strings;
};

/// Truncates each element of `field` to its low `width` bytes. 16-bit floats are stored as the bits
/// of an int32.
template <typename Field>
ArrayRef<char> narrow(const Field &field, unsigned width, std::vector<char> &storage) {
  storage.resize(size_t(field.size()) * width);
  char *out = storage.data();
  for (auto element : field) {
    std::memcpy(out, &element, width);
    out += width;
  }
  return storage;
}

template <typename Field> ArrayRef<char> viewOf(const Field &field) {
  return ArrayRef<char>(reinterpret_cast<const char *>(field.data()),
                        size_t(field.size()) * sizeof(*field.data()));
}

} // namespace

bool isFloatingPoint(int64_t dataType) {
  return dataType == TensorProto::FLOAT || dataType == TensorProto::DOUBLE ||
         dataType == TensorProto::FLOAT16 || dataType == TensorProto::BFLOAT16;
}

unsigned elementBytes(int64_t dataType) {
  switch (dataType) {
  case TensorProto::BOOL:
  case TensorProto::INT8:
  case TensorProto::UINT8:
  case TensorProto::FLOAT8E4M3FN:
  case TensorProto::FLOAT8E4M3FNUZ:
  case TensorProto::FLOAT8E5M2:
  case TensorProto::FLOAT8E5M2FNUZ:
  case TensorProto::FLOAT8E8M0:
    return 1;
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return 2;
  case TensorProto::INT32:
  case TensorProto::UINT32:
  case TensorProto::FLOAT:
    return 4;
  case TensorProto::INT64:
  case TensorProto::UINT64:
  case TensorProto::DOUBLE:
    return 8;
  default:
    return 0;
  }
}

/// Returns the size of an element in bits; 0 for unsupported types.
static unsigned elementBits(int64_t dataType) {
  switch (dataType) {
  case TensorProto::INT2:
  case TensorProto::UINT2:
    return 2;
  case TensorProto::INT4:
  case TensorProto::UINT4:
    return 4;
  default:
    return 8 * elementBytes(dataType);
  }
}

/// Returns the size in bytes of a tensor whose elements have `width` bits. The last byte of a
/// packed tensor may be filled in part.
static Expected<uint64_t> bytesOf(ArrayRef<int64_t> shape, int64_t dataType, unsigned width,
                                  StringRef integers) {
  if (width == 0)
    return problem("element type " + onnxDataTypeName(dataType) +
                   " is not supported; mtc supports floats of 8 to 64 bits, integers of " +
                   integers + " bits and booleans");
  for (int64_t dim : shape)
    if (dim < 0)
      return problem("shape " + shapeText(shape) + " has a negative dimension");
  // Extents are checked as at least 1, so that a zero extent cannot hide an overflow.
  uint64_t bits = width;
  for (int64_t dim : shape)
    if (__builtin_mul_overflow(bits, std::max<uint64_t>(dim, 1), &bits) ||
        bits / 8 > maxTensorBytes)
      return problem("shape " + shapeText(shape) + " of " + onnxDataTypeName(dataType) +
                     " is larger than 2^48 bytes");
  return llvm::is_contained(shape, 0) ? 0 : divideCeil(bits, 8);
}

Expected<uint64_t> tensorBytes(ArrayRef<int64_t> shape, int64_t dataType) {
  return bytesOf(shape, dataType, 8 * elementBytes(dataType), "8 to 64");
}

Expected<uint64_t> checkTensor(const TensorProto &tensor) {
  ArrayRef<int64_t> shape(tensor.dims().data(), tensor.dims_size());
  Expected<uint64_t> bytes =
      bytesOf(shape, tensor.data_type(), elementBits(tensor.data_type()), "2 to 64");
  if (!bytes)
    return bytes.takeError();
  if (tensor.has_segment())
    return problem("is split into segments, which mtc does not support");
  Fields fields(tensor);
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    if (fields.used() != 0)
      return problem("has external data and data in the file");
    return *bytes;
  }
  if (tensor.external_data_size() != 0)
    return problem("has external data, but its data_location is not EXTERNAL");
  if (fields.used() > 1)
    return problem("has elements in " + Twine(fields.used()) + " fields, expected one");
  if (fields.hasRaw) {
    if (tensor.raw_data().size() != *bytes)
      return problem("raw_data has " + Twine(tensor.raw_data().size()) + " bytes, expected " +
                     Twine(*bytes) + " for " + onnxDataTypeName(tensor.data_type()) + " " +
                     shapeText(shape));
    return *bytes;
  }
  // An int32 stores one byte of packed elements.
  int64_t expected = *bytes / std::max(elementBytes(tensor.data_type()), 1U);
  auto [name, count] = fields.holding(tensor.data_type());
  if (count != expected)
    return problem(name + " has " + Twine(count) + " elements, expected " + Twine(expected) +
                   " for " + onnxDataTypeName(tensor.data_type()) + " " + shapeText(shape));
  return *bytes;
}

ArrayRef<char> inlineBytes(const TensorProto &tensor, std::vector<char> &storage) {
  if (tensor.has_raw_data())
    return ArrayRef<char>(tensor.raw_data().data(), tensor.raw_data().size());
  unsigned width = std::max(elementBytes(tensor.data_type()), 1U);
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return viewOf(tensor.float_data());
  case TensorProto::DOUBLE:
    return viewOf(tensor.double_data());
  case TensorProto::INT64:
    return viewOf(tensor.int64_data());
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return narrow(tensor.uint64_data(), width, storage);
  default:
    return narrow(tensor.int32_data(), width, storage);
  }
}

mlir::RankedTensorType tensorType(const TensorProto &tensor, mlir::MLIRContext *context) {
  return mlir::RankedTensorType::get(ArrayRef<int64_t>(tensor.dims().data(), tensor.dims_size()),
                                     elementTypeFromOnnx(context, tensor.data_type()));
}

/// Returns one byte per element of a packed tensor, whose first elements are in the low bits.
static std::vector<char> unpacked(mlir::RankedTensorType type, ArrayRef<char> bytes) {
  unsigned width = type.getElementTypeBitWidth(), perByte = 8 / width;
  std::vector<char> elements(type.getNumElements());
  for (auto [i, element] : llvm::enumerate(elements)) {
    unsigned byte = static_cast<unsigned char>(bytes[i / perByte]);
    element = static_cast<char>(byte >> (i % perByte * width) & ((1U << width) - 1));
  }
  return elements;
}

mlir::DenseElementsAttr denseElements(mlir::RankedTensorType type, ArrayRef<char> bytes) {
  if (isPacked(type.getElementType()) && type.getNumElements() != 0)
    return mlir::DenseElementsAttr::getFromRawBuffer(type, unpacked(type, bytes));
  if (!type.getElementType().isInteger(1))
    return mlir::DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<bool> values = llvm::map_to_vector(bytes, [](char byte) { return byte != 0; });
  return mlir::DenseElementsAttr::get(type, ArrayRef<bool>(values));
}

} // namespace mtc::onnx
