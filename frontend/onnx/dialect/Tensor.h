//===- Tensor.h - Compile-time tensor values --------------------------------------------------===//
//
// The tensor values of constant folding. Elements are stored in the host's representation, a
// boolean or an integer of 2 or 4 bits as one byte. A splat, whose elements are all equal, stores
// one element. A repeated tensor stores its elements once that are equal along some axes, such as a
// causal mask along the batch axis. Copies share their storage.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_DIALECT_TENSOR_H
#define MTC_FRONTEND_ONNX_DIALECT_TENSOR_H

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

  /// Creates a tensor from an attribute, whose type may have an extent of 1 where `type` has a
  /// larger one. The result repeats the elements along these axes.
  static std::optional<Tensor> fromAttribute(mlir::ElementsAttr attribute,
                                             mlir::RankedTensorType type);

  /// Returns the value as `dense<...>`, a splat if all elements are equal.
  mlir::DenseElementsAttr toAttribute() const;

  /// Converts the stored elements to an attribute, whose type has an extent of 1 for the axes along
  /// which the tensor is repeated.
  mlir::DenseElementsAttr toStoredAttribute() const;

  /// Returns whether a tensor of static type `type` is within the limits.
  static bool isFoldable(mlir::RankedTensorType type);

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

  /// Returns the stored elements in row-major order, converted to T as in `fromValues`: those of
  /// `storedType()`, or one if `isSplat()`.
  template <typename T> std::vector<T> compactValues() const;

  /// Returns all elements in row-major order, converted to T.
  template <typename T> std::vector<T> values() const;

  /// Returns the element of a splat or of a tensor of one element.
  template <typename T> T value() const { return compactValues<T>().front(); }

  /// Returns the same elements with another shape of the same number of elements; a splat accepts
  /// any shape. The tensor must not be repeated.
  Tensor withType(mlir::RankedTensorType type) const;

  /// Returns the tensor of `type` that repeats the elements along the axes whose extent is 1 here
  /// and larger in `type`. The tensor must not be repeated.
  Tensor repeatedAs(mlir::RankedTensorType type) const;

  /// Returns the same value with all elements stored, or as a splat.
  Tensor expanded() const;

  /// Returns whether all elements along `axis` are equal.
  bool isUniform(int64_t axis) const;

  /// Returns the same value, as a splat if all elements are equal.
  Tensor simplified() const;

  mlir::RankedTensorType type() const { return tensorType; }
  llvm::ArrayRef<int64_t> shape() const { return tensorType.getShape(); }
  int64_t size() const { return tensorType.getNumElements(); }
  bool isSplat() const { return splat; }
  /// Returns whether the stored elements are repeated along an axis; false for splats.
  bool isRepeated() const { return !splat && stored != tensorType; }
  /// Returns the type of the stored elements of a tensor that is not a splat.
  mlir::RankedTensorType storedType() const { return stored; }
  int64_t elementSize() const { return elementSize(tensorType.getElementType()); }

  /// Returns the stored bytes: the elements of `storedType()`, or one element if `isSplat()`.
  llvm::ArrayRef<char> bytes() const { return data; }

  /// Returns the bytes to write; valid only after `allocate`.
  llvm::MutableArrayRef<char> mutableBytes() {
    return {const_cast<char *>(data.data()), data.size()};
  }

private:
  Tensor(mlir::RankedTensorType type, llvm::ArrayRef<char> data, bool splat,
         std::shared_ptr<const void> owner)
      : tensorType(type), stored(type), data(data), splat(splat), owner(std::move(owner)) {}

  static Tensor allocateUnchecked(mlir::RankedTensorType type, bool splat);

  mlir::RankedTensorType tensorType;
  mlir::RankedTensorType stored; ///< Its extents are those of `tensorType` or 1.
  llvm::ArrayRef<char> data;
  bool splat;
  std::shared_ptr<const void> owner; ///< Null if an attribute owns the bytes.
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_DIALECT_TENSOR_H
