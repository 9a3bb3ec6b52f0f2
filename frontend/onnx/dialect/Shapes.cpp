//===- Shapes.cpp - Shape arithmetic ----------------------------------------------------------===//

#include "frontend/onnx/dialect/Shapes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace mtc::onnx {

std::optional<Extents> broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Extents result(a);
  for (size_t i = 0, offset = a.size() - b.size(); i < b.size(); ++i) {
    int64_t &extent = result[offset + i];
    if (extent == 1)
      extent = b[i];
    else if (b[i] != 1 && b[i] != extent)
      return std::nullopt;
  }
  return result;
}

bool isAddressable(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    if (llvm::MulOverflow(count, std::max<int64_t>(extent, 1), count) || count > maxElements)
      return false;
  return true;
}

int64_t elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

Extents rowMajorStrides(ArrayRef<int64_t> shape) {
  Extents strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

Extents broadcastStrides(ArrayRef<int64_t> shape, ArrayRef<int64_t> target) {
  Extents own = rowMajorStrides(shape);
  Extents strides(target.size(), 0);
  for (size_t i = 0, offset = target.size() - shape.size(); i < shape.size(); ++i)
    if (shape[i] != 1)
      strides[offset + i] = own[i];
  return strides;
}

std::string shapeText(ArrayRef<int64_t> shape) {
  return "[" +
         llvm::join(llvm::map_range(shape, [](int64_t extent) { return std::to_string(extent); }),
                    ", ") +
         "]";
}

int64_t ceilDivide(int64_t a, int64_t b) { return -floorDivide(-a, b); }

int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

} // namespace mtc::onnx
