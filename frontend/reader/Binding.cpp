//===- Binding.cpp - Values for graph inputs from the command line
//------------------------------===//

#include "frontend/reader/Binding.h"
#include "frontend/reader/TensorData.h"
#include "ir/Mtc.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mtc::onnx;

static llvm::Error error(const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// numpy's spelling of an element type; "" for those that it has not.
static std::string numpyType(Type element) {
  if (element.isInteger(1))
    return "|b1";
  int64_t bytes = mtc::elementBytes(element);
  char kind = isa<FloatType>(element) ? 'f' : mtc::isUnsigned(element) ? 'u' : 'i';
  if (element.isBF16() || bytes == 0)
    return "";
  return std::string(bytes == 1 ? "|" : "<") + kind + std::to_string(bytes);
}

/// Whether a shape from a file is one that the type allows.
static bool fits(ArrayRef<int64_t> shape, TensorType type) {
  if (!type.hasRank())
    return true;
  if (static_cast<int64_t>(shape.size()) != type.getRank())
    return false;
  return llvm::all_of(llvm::zip_equal(shape, type.getShape()), [](auto pair) {
    auto [given, wanted] = pair;
    return ShapedType::isDynamic(wanted) || given == wanted;
  });
}

/// Reads the part of numpy's format (versions 1 to 3) that arrays of numbers use.
static llvm::Expected<DenseElementsAttr> readNpy(StringRef path, TensorType type) {
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return error("cannot be read: " + buffer.getError().message());
  StringRef file = (*buffer)->getBuffer();
  if (!file.starts_with("\x93NUMPY") || file.size() < 12)
    return error("is no .npy file");
  size_t lengthBytes = file[6] == 1 ? 2 : 4, length = 0;
  for (size_t i = 0; i < lengthBytes; ++i)
    length |= static_cast<size_t>(static_cast<unsigned char>(file[8 + i])) << (8 * i);
  if (length > file.size() - 8 - lengthBytes)
    return error("is cut off within its header");
  StringRef header = file.substr(8 + lengthBytes, length),
            data = file.substr(8 + lengthBytes + length);
  std::string wanted = numpyType(type.getElementType());
  StringRef found = header.split("'descr':").second.split('\'').second.split('\'').first;
  if (found != wanted)
    return error("holds elements '" + found + "', the input takes '" + wanted + "'");
  if (!header.contains("'fortran_order': False"))
    return error("is in Fortran order; save it with numpy.ascontiguousarray");
  SmallVector<StringRef> words;
  header.split("'shape':").second.split('(').second.split(')').first.split(words, ',', -1, false);
  SmallVector<int64_t> shape;
  for (StringRef word : words) {
    int64_t extent;
    if (word.trim().empty())
      continue;
    if (word.trim().getAsInteger(10, extent) || extent < 0 || extent > (int64_t(1) << 40))
      return error("has a header that cannot be read");
    shape.push_back(extent);
  }
  if (!fits(shape, type))
    return error("has another shape than the input");
  auto result = RankedTensorType::get(shape, type.getElementType());
  if (static_cast<int64_t>(data.size()) != mtc::byteSize(result))
    return error("holds " + Twine(data.size()) + " bytes of data, its shape needs " +
                 Twine(mtc::byteSize(result)));
  return denseFromBytes(result, ArrayRef<char>(data.data(), data.size()));
}

llvm::Expected<DenseElementsAttr> mtc::onnx::parseBinding(StringRef text, TensorType type) {
  if (text.ends_with(".npy"))
    return readNpy(text, type);
  SmallVector<StringRef> words;
  text.split(words, ',');
  Type element = type.getElementType();
  SmallVector<Attribute> numbers;
  for (StringRef word : words) {
    double real;
    int64_t whole;
    Builder builder(type.getContext());
    if (auto floatType = dyn_cast<FloatType>(element)) {
      if (word.trim().getAsDouble(real))
        return error("'" + word + "' is no number");
      numbers.push_back(builder.getFloatAttr(floatType, real));
    } else {
      if (word.trim().getAsInteger(10, whole))
        return error("'" + word + "' is no whole number");
      numbers.push_back(IntegerAttr::get(
          element, APInt(element.getIntOrFloatBitWidth(), static_cast<uint64_t>(whole),
                         /*isSigned=*/true, /*implicitTrunc=*/true)));
    }
  }
  int64_t count = numbers.size();
  if (type.hasRank() && type.hasStaticShape()) {
    auto shape = RankedTensorType::get(type.getShape(), element);
    if (count != 1 && count != shape.getNumElements())
      return error("gives " + Twine(count) + " numbers, the input takes " +
                   Twine(shape.getNumElements()));
    return DenseElementsAttr::get(shape, numbers);
  }
  SmallVector<int64_t> shape;
  if (count > 1 || (type.hasRank() && type.getRank() == 1))
    shape.push_back(count);
  if (!fits(shape, type))
    return error("the input has a symbolic shape: give a .npy file, or the sizes with --dim");
  return DenseElementsAttr::get(RankedTensorType::get(shape, element), numbers);
}
