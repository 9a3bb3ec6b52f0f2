//===- Evaluate.cpp - Utilities for constant folding of operators -----------------------------===//

#include "frontend/onnx/operators/support/Evaluate.h"

#include <cstring>

using namespace mlir;

namespace mtc::onnx {

std::optional<Tensor> stridedCopy(const Tensor &source, RankedTensorType type, int64_t offset,
                                  ArrayRef<int64_t> strides) {
  if (source.isSplat())
    return source.withType(type);
  std::optional<Tensor> result = Tensor::allocate(type);
  if (!result)
    return std::nullopt;
  const char *in = source.bytes().data() + offset * source.elementSize();
  char *out = result->mutableBytes().data();
  dispatchSize(source.elementSize(), [&](auto width) {
    walkIndices(type.getShape(), std::array{Extents(strides)},
                [&](int64_t i, const std::array<int64_t, 1> &at) {
                  std::memcpy(out + i * width, in + at[0] * width, width);
                });
  });
  return result;
}

RankedTensorType distinctType(ArrayRef<const Tensor *> operands, RankedTensorType type) {
  constexpr int64_t large = 1 << 16; // Comparing the elements pays for larger results.
  if (type.getNumElements() < large)
    return type;
  Extents shape(type.getShape());
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (llvm::all_of(operands, [&](const Tensor *operand) {
          const int64_t own = axis - (type.getRank() - operand->type().getRank());
          return own < 0 || operand->isUniform(own);
        }))
      shape[axis] = 1;
  return RankedTensorType::get(shape, type.getElementType());
}

std::optional<Tensor> indexedCopy(const Tensor &source, RankedTensorType type,
                                  llvm::function_ref<int64_t(int64_t)> indexOf,
                                  const Tensor *fill) {
  if (source.isSplat() && !fill)
    return source.withType(type);
  std::optional<Tensor> result = Tensor::allocate(type);
  if (!result)
    return std::nullopt;
  size_t width = source.elementSize();
  char *out = result->mutableBytes().data();
  for (int64_t i = 0, count = type.getNumElements(); i < count; ++i) {
    int64_t index = indexOf(i);
    const char *from = index < 0          ? fill->bytes().data()
                       : source.isSplat() ? source.bytes().data()
                                          : source.bytes().data() + index * width;
    std::memcpy(out + i * width, from, width);
  }
  return result;
}

} // namespace mtc::onnx
