//===- PaddingRows.cpp - Padding rows of embeddings -------------------------------------------===//

#include "frontend/onnx/reader/PaddingRows.h"

#include "frontend/onnx/reader/TensorData.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace mtc::onnx {

std::optional<int64_t> findZeroRow(Model &model, StringRef table) {
  const Initializer *found = model.findInitializer(table);
  if (!found || !isFloatingPoint(found->dataType) || found->shape.size() != 2)
    return std::nullopt;
  int64_t rows = found->shape[0];
  if (rows < 2 || found->shape[1] < 1)
    return std::nullopt;
  Expected<ArrayRef<char>> bytes = model.initializerBytes(table);
  if (!bytes) {
    consumeError(bytes.takeError());
    return std::nullopt;
  }
  size_t width = bytes->size() / static_cast<size_t>(rows);
  std::optional<int64_t> zero;
  for (int64_t row = 0; row < rows; ++row) {
    if (llvm::any_of(bytes->slice(static_cast<size_t>(row) * width, width),
                     [](char byte) { return byte != 0; }))
      continue;
    if (zero)
      return std::nullopt;
    zero = row;
  }
  return zero;
}

} // namespace mtc::onnx
