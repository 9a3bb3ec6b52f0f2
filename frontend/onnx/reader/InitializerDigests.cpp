//===- InitializerDigests.cpp - Digests of equal initializers ---------------------------------===//

#include "frontend/onnx/reader/InitializerDigests.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"

#include <cstring>

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

using Digest = llvm::TruncatedBLAKE3<16>;

std::string digestOf(ArrayRef<char> bytes) {
  Digest digest;
  digest.update(StringRef(bytes.data(), bytes.size()));
  return toHex(digest.final(), /*LowerCase=*/true);
}

/// Returns the digest of the transposed matrix. Gathers a strip of columns at a time, so that
/// memory is read sequentially.
std::string transposedDigestOf(ArrayRef<char> bytes, int64_t rows, int64_t columns, size_t width) {
  constexpr int64_t stripColumns = 64;
  Digest digest;
  std::vector<char> strip;
  for (int64_t begin = 0; begin < columns; begin += stripColumns) {
    int64_t count = std::min(stripColumns, columns - begin);
    strip.resize(static_cast<size_t>(count * rows) * width);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < count; ++column)
        std::memcpy(strip.data() + static_cast<size_t>(column * rows + row) * width,
                    bytes.data() + static_cast<size_t>(row * columns + begin + column) * width,
                    width);
    digest.update(StringRef(strip.data(), strip.size()));
  }
  return toHex(digest.final(), /*LowerCase=*/true);
}

RankedTensorType typeOf(InitializerOp initializer) {
  return cast<RankedTensorType>(initializer->getResult(0).getType());
}

size_t widthOf(InitializerOp initializer) {
  return typeOf(initializer).getElementTypeBitWidth() / 8;
}

} // namespace

void InitializerDigests::add(InitializerOp initializer) {
  RankedTensorType type = typeOf(initializer);
  if (!isa<FloatType>(type.getElementType()) || type.getNumElements() == 0)
    return;
  Expected<ArrayRef<char>> bytes = model.initializerBytes(initializer.getSource());
  if (!bytes)
    return consumeError(bytes.takeError());
  size_t width = widthOf(initializer);
  // All elements are equal if the data equals itself shifted by one element.
  if (std::memcmp(bytes->data(), bytes->data() + width, bytes->size() - width) == 0) {
    initializer->setAttr(oneValueAttribute,
                         DenseElementsAttr::getFromRawBuffer(type, bytes->take_front(width)));
    return;
  }
  std::string ends(bytes->data(), width);
  ends.append(bytes->end() - width, bytes->end());
  alike[{type.getNumElements(), ends}].push_back(initializer);
}

void InitializerDigests::describe() {
  for (auto &[key, initializers] : alike) {
    if (initializers.size() < 2)
      continue;
    for (InitializerOp initializer : initializers) {
      ArrayRef<char> bytes = llvm::cantFail(model.initializerBytes(initializer.getSource()));
      RankedTensorType type = typeOf(initializer);
      Builder builder(initializer.getContext());
      initializer->setAttr(digestAttribute, builder.getStringAttr(digestOf(bytes)));
      if (type.getRank() == 2 && type.getDimSize(0) > 1 && type.getDimSize(1) > 1)
        initializer->setAttr(
            transposedDigestAttribute,
            builder.getStringAttr(transposedDigestOf(bytes, type.getDimSize(0), type.getDimSize(1),
                                                     widthOf(initializer))));
    }
  }
}

} // namespace mtc::onnx
