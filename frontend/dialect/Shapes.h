//===- Shapes.h - Arithmetic with shapes ------------------------------------------------------===//

#ifndef MTC_FRONTEND_DIALECT_SHAPES_H
#define MTC_FRONTEND_DIALECT_SHAPES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace mtc::onnx {

using Extents = llvm::SmallVector<int64_t>;

/// The shape that both broadcast to, ONNX's multidirectional broadcasting (NumPy's); nothing where
/// they do not match.
std::optional<Extents> broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Whether a tensor of this shape has at most `maxElements`: then products of extents do not
/// overflow.
bool isAddressable(llvm::ArrayRef<int64_t> shape);
constexpr int64_t maxElements = int64_t(1) << 48;

/// Product of the extents.
int64_t elementCount(llvm::ArrayRef<int64_t> shape);

/// Distance between neighbours of each axis in row-major order, in elements.
Extents rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Strides by which a tensor of `shape` is read under the index space `target` that it broadcasts
/// to: 0 along axes that are repeated.
Extents broadcastStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> target);

/// `[2, 3]`, for messages.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// Whole numbers ⌈a / b⌉ and ⌊a / b⌋ for b > 0.
int64_t ceilDivide(int64_t a, int64_t b);
int64_t floorDivide(int64_t a, int64_t b);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_DIALECT_SHAPES_H
