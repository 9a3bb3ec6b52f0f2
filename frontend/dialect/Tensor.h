//===- Tensor.h - Compile-time tensor values --------------------------------------------------===//
//
// The tensor values of constant folding. Elements are stored in the host's representation, a
// boolean or an integer of 2 or 4 bits as one byte. A splat, whose elements are all equal, stores
// one element. Copies share their storage.
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

/// Results above either limit are not folded, unless they are splats.
constexpr int64_t maxFoldedElements = int64_t(64) << 20;
constexpr int64_t maxFoldedBytes = int64_t(256) << 20;

/// An immutable tensor with static shape, except for `mutableBytes` after `allocate`.
class Tensor {
public:
  /// Returns whether this element type is supported: f64, f32, f16, bf16, integers of 2, 4, 8, 16,
  /// 32 or 64 bits, and i1.
  static bool holds(mlir::Type elementType);

  /// Returns the size of one element in bytes; `holds(elementType)` must be true.
  static int64_t elementSize(mlir::Type elementType);

  /// Returns the value of an attribute and shares its bytes if their layout matches. Returns
  /// nullopt for unsupported element types and for resources whose blob is not available.
  static std::optional<Tensor> fromAttribute(mlir::ElementsAttr attribute);

  /// Returns the value as `dense<...>`, a splat if all elements are equal.
  mlir::DenseElementsAttr toAttribute() const;

  /// Returns a tensor of static type `type` with uninitialized elements, to be written through
  /// `mutableBytes`, or nullopt above the limits.
  static std::optional<Tensor> allocate(mlir::RankedTensorType type);

  /// Creates a tensor from values in row-major order, converted to the element type of `type`:
  /// floats are rounded to nearest even, floats to integers truncate, integers wrap, and conversion
  /// to booleans is `!= 0`. A single value creates a splat. T is float, double, int64_t, uint64_t
  /// or uint8_t (for booleans). Returns nullopt above the limits.
  template <typename T>
  static std::optional<Tensor> fromValues(mlir::RankedTensorType type, llvm::ArrayRef<T> values);

  /// Creates a tensor of rank 1 of 64-bit integers.
  static Tensor fromInts(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> values);

  /// Returns the stored elements in row-major order, converted to T as in `fromValues`: all
  /// elements, or one if `isSplat()`.
  template <typename T> std::vector<T> compactValues() const;

  /// Returns all elements in row-major order, converted to T.
  template <typename T> std::vector<T> values() const;

  /// Returns the element of a splat or of a tensor of one element.
  template <typename T> T value() const { return compactValues<T>().front(); }

  /// Returns the same elements with another shape of the same number of elements; a splat accepts
  /// any shape.
  Tensor withType(mlir::RankedTensorType type) const;

  /// Returns the same value, as a splat if all elements are equal.
  Tensor simplified() const;

  mlir::RankedTensorType type() const { return tensorType; }
  llvm::ArrayRef<int64_t> shape() const { return tensorType.getShape(); }
  int64_t size() const { return tensorType.getNumElements(); }
  bool isSplat() const { return splat; }
  int64_t elementSize() const { return elementSize(tensorType.getElementType()); }

  /// Returns the stored bytes: `size() * elementSize()` bytes, or one element if `isSplat()`.
  llvm::ArrayRef<char> bytes() const { return data; }

  /// Returns the bytes to write; valid only after `allocate`.
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
  std::shared_ptr<const void> owner; ///< Null if an attribute owns the bytes.
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_DIALECT_TENSOR_H
