//===- SampledElements.cpp - Elements of initializers by which they are classified ------------===//

#include "frontend/onnx/reader/SampledElements.h"

#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/reader/TensorData.h"

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

/// Integers are never trained, so integer initializers up to the limit are constants, for folding.
/// Whether a float initializer is trained is not known yet, and it may be a large table.
static constexpr uint64_t maxIntegerConstant = 64 << 20, maxFloatConstant = 64 << 10;
/// Number of elements that are sampled from a large float tensor to classify it.
static constexpr int64_t maxSampledElements = 4096;

DenseElementsAttr knownElements(Model &model, const Initializer &initializer,
                                RankedTensorType type) {
  bool isFloat = isa<FloatType>(type.getElementType());
  bool isSmall = initializer.bytes <= (isFloat ? maxFloatConstant : maxIntegerConstant) ||
                 isPacked(type.getElementType());
  if (!isSmall && !isFloatingPoint(initializer.dataType))
    return {};
  llvm::Expected<ArrayRef<char>> bytes = model.initializerBytes(initializer.name);
  if (!bytes) {
    consumeError(bytes.takeError());
    return {};
  }
  if (isSmall)
    return denseElements(type, *bytes);
  return denseElements(RankedTensorType::get(maxSampledElements, type.getElementType()),
                       bytes->take_front(maxSampledElements * elementBytes(initializer.dataType)));
}

} // namespace mtc::onnx
