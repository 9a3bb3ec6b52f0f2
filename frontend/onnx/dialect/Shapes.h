//===- Shapes.h - Shape arithmetic ------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_DIALECT_SHAPES_H
#define MTC_FRONTEND_ONNX_DIALECT_SHAPES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace mtc::onnx {

using Extents = llvm::SmallVector<int64_t>;

/// Returns the shape to which both shapes broadcast by ONNX's multidirectional (NumPy)
/// broadcasting, or nullopt if they are not broadcastable.
std::optional<Extents> broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Returns whether a tensor of this shape has at most `maxElements` elements, so that products of
/// extents do not overflow.
bool isAddressable(llvm::ArrayRef<int64_t> shape);
constexpr int64_t maxElements = int64_t(1) << 48;

/// Returns the product of the extents.
int64_t elementCount(llvm::ArrayRef<int64_t> shape);

/// Returns the row-major strides of a shape, in elements.
Extents rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Returns the strides that index a tensor of `shape` over the iteration space `target`, to which
/// it broadcasts; the stride of a broadcast axis is 0.
Extents broadcastStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> target);

/// Returns `[2, 3]`, for messages.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Returns ⌈a / b⌉ and ⌊a / b⌋ for b > 0.
int64_t ceilDivide(int64_t a, int64_t b);
int64_t floorDivide(int64_t a, int64_t b);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_DIALECT_SHAPES_H
