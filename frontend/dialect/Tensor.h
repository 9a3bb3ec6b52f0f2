//===- Tensor.h - A tensor's value at compile time --------------------------------------------===//
//
// What constant folding computes with. Elements are kept as in memory of the host, one byte for a
// boolean; a tensor of equal elements keeps one. Copies share their bytes.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_DIALECT_TENSOR_H
#define MTC_FRONTEND_DIALECT_TENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <memory>
#include <optional>
#include <vector>

namespace mtc::onnx {

/// Results larger than either bound are not folded, unless all their elements are equal.
constexpr int64_t maxFoldedElements = int64_t(64) << 20;
constexpr int64_t maxFoldedBytes = int64_t(256) << 20;

class Tensor {
public:
  /// Whether tensors of this element type can be held: f64, f32, f16, bf16, integers of 8 to 64
  /// bits and booleans.
  static bool holds(mlir::Type elementType);

  /// Bytes of one element; `holds(elementType)`.
  static int64_t elementSize(mlir::Type elementType);

  /// The value of an attribute, sharing its bytes where they lie as they should; nothing for
  /// element types that cannot be held and for resources whose bytes are not there.
  static std::optional<Tensor> fromAttribute(mlir::ElementsAttr attribute);

  /// As `dense<...>`, a splat where all elements are equal.
  mlir::DenseElementsAttr toAttribute() const;

  /// A tensor of `type` (static) with uninitialized elements, for `bytes` to be written; nothing
  /// above the bounds.
  static std::optional<Tensor> allocate(mlir::RankedTensorType type);

  /// Values in row-major order, rounded to the element type of `type` (floats to nearest even, to
  /// integers by truncation, integers by wrapping, to booleans by `!= 0`). One value alone is every
  /// element. T: float, double, int64_t, uint64_t, uint8_t (of booleans). Nothing above the bounds.
  template <typename T>
  static std::optional<Tensor> fromValues(mlir::RankedTensorType type, llvm::ArrayRef<T> values);

  /// A tensor of rank 1 of 64-bit integers.
  static Tensor fromInts(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> values);

  /// Elements in row-major order converted to T (as for `fromValues`); all of them, or one alone if
  /// `isSplat()`.
  template <typename T> std::vector<T> compactValues() const;

  /// Elements in row-major order converted to T, all of them.
  template <typename T> std::vector<T> values() const;

  /// The element of a tensor of one element, or of a splat.
  template <typename T> T value() const { return compactValues<T>().front(); }

  /// The same elements under another type of the same number of elements and the same element type;
  /// a splat may take any number of elements.
  Tensor withType(mlir::RankedTensorType type) const;

  /// The same value, a splat where all elements are equal.
  Tensor simplified() const;

  mlir::RankedTensorType type() const { return tensorType; }
  llvm::ArrayRef<int64_t> shape() const { return tensorType.getShape(); }
  int64_t size() const { return tensorType.getNumElements(); }
  bool isSplat() const { return splat; }
  int64_t elementSize() const { return elementSize(tensorType.getElementType()); }

  /// The elements' bytes: `size() * elementSize()` of them, of one element where `isSplat()`.
  llvm::ArrayRef<char> bytes() const { return data; }

  /// To be written after `allocate` only.
  llvm::MutableArrayRef<char> mutableBytes() {
    return {const_cast<char *>(data.data()), data.size()};
  }

private:
  Tensor(mlir::RankedTensorType type, llvm::ArrayRef<char> data, bool splat,
         std::shared_ptr<const void> owner)
      : tensorType(type), data(data), splat(splat), owner(std::move(owner)) {}

  static Tensor allocateUnchecked(mlir::RankedTensorType type, bool splat);

  mlir::RankedTensorType tensorType;
  llvm::ArrayRef<char> data;
  bool splat;
  std::shared_ptr<const void> owner; ///< Null where an attribute owns the bytes.
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_DIALECT_TENSOR_H
