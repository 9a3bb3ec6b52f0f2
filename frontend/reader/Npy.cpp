//===- Npy.cpp - Reader for NumPy's .npy files ------------------------------------------------===//

#include "frontend/reader/Npy.h"

#include "frontend/dialect/Shapes.h"
#include "frontend/reader/TensorData.h"
#include "support/compiler/InputFile.h"
#include "support/compiler/Problems.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using ::onnx::TensorProto;

namespace mtc::onnx {

namespace {

/// Returns the text after `'key':` in the header's dictionary.
StringRef fieldOf(StringRef header, StringRef key) {
  size_t at = header.find(("'" + key + "':").str());
  return at == StringRef::npos ? StringRef() : header.drop_front(at + key.size() + 3).ltrim();
}

int64_t dataTypeOf(StringRef descr) {
  return StringSwitch<int64_t>(descr)
      .Case("<f4", TensorProto::FLOAT)
      .Case("<f8", TensorProto::DOUBLE)
      .Case("<f2", TensorProto::FLOAT16)
      .Cases({"|i1", "<i1"}, TensorProto::INT8)
      .Cases({"|u1", "<u1"}, TensorProto::UINT8)
      .Case("<i2", TensorProto::INT16)
      .Case("<u2", TensorProto::UINT16)
      .Case("<i4", TensorProto::INT32)
      .Case("<u4", TensorProto::UINT32)
      .Case("<i8", TensorProto::INT64)
      .Case("<u8", TensorProto::UINT64)
      .Case("|b1", TensorProto::BOOL)
      .Default(TensorProto::UNDEFINED);
}

bool readShape(StringRef text, std::vector<int64_t> &shape) {
  if (!text.consume_front("("))
    return false;
  while (!text.ltrim().starts_with(")")) {
    int64_t dim;
    text = text.ltrim();
    if (text.consumeInteger(10, dim))
      return false;
    shape.push_back(dim);
    text = text.ltrim();
    if (!text.consume_front(",") && !text.starts_with(")"))
      return false;
  }
  return true;
}

} // namespace

Expected<NpyArray> readNpy(StringRef path) {
  auto fail = [&](const Twine &reason) { return problem("file " + quoted(path) + " " + reason); };
  Expected<InputFile> file = readInputFile(path, anyBytes, FileForm::Binary);
  if (!file)
    return fail(toString(file.takeError()));
  StringRef text = file->bytes();
  if (!text.consume_front("\x93NUMPY") || text.size() < 6)
    return fail("is not a .npy file");
  uint8_t version = text[0];
  size_t fieldSize = version == 1 ? 2 : 4;
  size_t length = version == 1 ? support::endian::read16le(text.data() + 2)
                               : support::endian::read32le(text.data() + 2);
  if (version < 1 || version > 3 || text.size() - 2 - fieldSize < length)
    return fail("has an invalid .npy header");
  StringRef header = text.substr(2 + fieldSize, length);
  StringRef data = text.drop_front(2 + fieldSize + length);

  NpyArray array;
  StringRef descr =
      fieldOf(header, "descr").ltrim('\'').take_until([](char c) { return c == '\''; });
  array.dataType = dataTypeOf(descr);
  if (array.dataType == TensorProto::UNDEFINED)
    return fail("has elements of type " + quoted(descr) +
                ", expected little-endian numbers or booleans");
  if (!fieldOf(header, "fortran_order").starts_with("False"))
    return fail("is in Fortran order; save it with numpy.ascontiguousarray");
  if (!readShape(fieldOf(header, "shape"), array.shape))
    return fail("has an invalid .npy header");
  Expected<uint64_t> bytes = tensorBytes(array.shape, array.dataType);
  if (!bytes)
    return fail("cannot be used: " + toString(bytes.takeError()));
  if (data.size() != *bytes)
    return fail("holds " + Twine(data.size()) + " bytes of data, but its shape " +
                shapeText(array.shape) + " needs " + Twine(*bytes));
  array.bytes = ArrayRef<char>(data.data(), data.size());
  array.file = std::move(file->content);
  return array;
}

template <typename Element> static std::vector<double> asNumbers(ArrayRef<char> bytes) {
  std::vector<double> numbers(bytes.size() / sizeof(Element));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<double>(
        support::endian::read<Element, endianness::little>(bytes.data() + i * sizeof(Element)));
  return numbers;
}

Expected<std::vector<double>> readNpyNumbers(StringRef path) {
  Expected<NpyArray> array = readNpy(path);
  if (!array)
    return array.takeError();
  switch (array->dataType) {
  case TensorProto::FLOAT:
    return asNumbers<float>(array->bytes);
  case TensorProto::DOUBLE:
    return asNumbers<double>(array->bytes);
  case TensorProto::INT32:
    return asNumbers<int32_t>(array->bytes);
  case TensorProto::INT64:
    return asNumbers<int64_t>(array->bytes);
  default:
    return problem("file " + quoted(path) +
                   " has elements of another type than float32, float64, int32 or int64");
  }
}

} // namespace mtc::onnx
