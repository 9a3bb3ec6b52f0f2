//===- Constants.cpp - Compression of constants along uniform axes ----------------------------===//

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/dialect/Tensor.h"
#include "frontend/onnx/operators/support/Program.h"

using namespace mlir;

namespace mtc::onnx {

/// Removes `axis` from the tensor if all elements along it are equal; returns nothing otherwise.
static std::optional<Tensor> withoutAxis(const Tensor &tensor, int64_t axis) {
  if (!tensor.isUniform(axis))
    return std::nullopt;
  ArrayRef<int64_t> shape = tensor.shape();
  int64_t extent = shape[axis], outer = elementCount(shape.take_front(axis));
  int64_t inner = elementCount(shape.drop_front(axis + 1)) * tensor.elementSize();
  const char *bytes = tensor.bytes().data();
  auto type = RankedTensorType::Builder(tensor.type()).dropDim(axis);
  std::optional<Tensor> result = Tensor::allocate(RankedTensorType(type));
  if (result)
    for (int64_t i = 0; i < outer; ++i)
      memcpy(result->mutableBytes().data() + i * inner, bytes + i * extent * inner, inner);
  return result;
}

Value buildConstant(TensorBuilder &builder, ElementsAttr value, RankedTensorType type) {
  std::optional<Tensor> tensor = Tensor::fromAttribute(value);
  // Index constants are not compressed: they are small, and gathers read them directly.
  bool isIndex = isa<IntegerType>(type.getElementType()) && !type.getElementType().isInteger(1);
  if (tensor && tensor->type() != type && (isIndex || tensor->isSplat()))
    return builder.constant(tensor->repeatedAs(type).toAttribute());
  if (!tensor || isIndex || tensor->isSplat() || type.getNumElements() == 0)
    return builder.constant(value);
  SmallVector<int64_t> repeated;
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis)
    if (std::optional<Tensor> smaller = withoutAxis(*tensor, axis)) {
      tensor = smaller;
      repeated.insert(repeated.begin(), axis);
    }
  if (tensor->size() == type.getNumElements())
    return builder.constant(value);
  return builder.broadcast(builder.constant(tensor->toAttribute()), repeated, type.getShape());
}

} // namespace mtc::onnx
