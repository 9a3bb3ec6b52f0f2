//===- Evaluate.h - Utilities for constant folding of operators -------------------------------===//
//
// Arithmetic uses one of four C++ types: `float` for f32, f16 and bf16, `double` for f64,
// `uint64_t` for unsigned integers, `int64_t` for signed integers and booleans.
// `Tensor::fromValues` rounds or wraps to the element type. Data movement depends on the element
// size only.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_EVALUATE_H
#define MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_EVALUATE_H

#include "frontend/onnx/dialect/Shapes.h"
#include "frontend/onnx/operators/support/Inference.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <array>
#include <type_traits>

namespace mtc::onnx {

/// Calls `function(T())` with the C++ type T that computes elements of the float type `type`.
template <typename Function> auto dispatchFloat(mlir::Type type, Function function) {
  return type.isF64() ? function(double()) : function(float());
}

/// Calls `function(T())` with the C++ type T that computes elements of an integer or boolean type.
template <typename Function> auto dispatchInteger(mlir::Type type, Function function) {
  return type.isUnsignedInteger() ? function(uint64_t()) : function(int64_t());
}

/// Calls `function(T())` with the C++ type T that computes elements of `type`.
template <typename Function> auto dispatchNumber(mlir::Type type, Function function) {
  return isa<mlir::FloatType>(type) ? dispatchFloat(type, function)
                                    : dispatchInteger(type, function);
}

/// Returns a + b, a - b or a · b; integers wrap around.
template <typename T> T sumOf(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else
    return a + b;
}
template <typename T> T differenceOf(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  else
    return a - b;
}
template <typename T> T productOf(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return a * b;
}

/// Visits the index space `shape` in row-major order: calls `function(linear, offsets)`, where
/// `offsets[k]` is the dot product of the index and `strides[k]`.
template <size_t count, typename Function>
void walkIndices(llvm::ArrayRef<int64_t> shape, const std::array<Extents, count> &strides,
                 Function function) {
  const int64_t total = elementCount(shape), axes = static_cast<int64_t>(shape.size());
  const int64_t row = axes > 0 ? shape.back() : 1;
  Extents index(shape.size(), 0);
  std::array<int64_t, count> offsets{}, steps{};
  for (size_t k = 0; k < count && axes > 0; ++k)
    steps[k] = strides[k].back();
  for (int64_t begin = 0; begin < total; begin += row) {
    std::array<int64_t, count> at = offsets;
    for (int64_t linear = begin; linear < begin + row; ++linear) {
      function(linear, at);
      for (size_t k = 0; k < count; ++k)
        at[k] += steps[k];
    }
    for (int64_t axis = axes - 2; axis >= 0; --axis) {
      for (size_t k = 0; k < count; ++k)
        offsets[k] += strides[k][axis];
      if (++index[axis] < shape[axis])
        break;
      for (size_t k = 0; k < count; ++k)
        offsets[k] -= strides[k][axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

/// Calls `function` with an integral constant that is the size of an element in bytes, so that
/// copies of elements are inlined.
template <typename Function> void dispatchSize(int64_t bytes, Function function) {
  switch (bytes) {
  case 1:
    return function(std::integral_constant<int64_t, 1>());
  case 2:
    return function(std::integral_constant<int64_t, 2>());
  case 4:
    return function(std::integral_constant<int64_t, 4>());
  case 8:
    return function(std::integral_constant<int64_t, 8>());
  default:
    llvm_unreachable("no tensor has elements of another size");
  }
}

/// Returns the strides with which to visit the stored elements of a tensor that is broadcast to
/// `shape`.
inline Extents stridesOver(const Tensor &tensor, llvm::ArrayRef<int64_t> shape) {
  return tensor.isSplat() ? Extents(shape.size(), 0)
                          : broadcastStrides(tensor.storedType().getShape(), shape);
}

/// Returns the type of the distinct elements of an elementwise result of `type`. If the result is
/// large, axes along which no operand changes have extent 1.
mlir::RankedTensorType distinctType(llvm::ArrayRef<const Tensor *> operands,
                                    mlir::RankedTensorType type);

/// Returns the tensor of `type` whose stored elements are `function` of those of `source`, which
/// are read and computed as type T.
template <typename T, typename Function>
std::optional<Tensor> mapStored(const Tensor &source, mlir::RankedTensorType type,
                                Function function) {
  std::vector<T> values = source.compactValues<T>();
  for (T &value : values)
    value = function(value);
  const auto stored =
      source.isRepeated()
          ? mlir::RankedTensorType::get(source.storedType().getShape(), type.getElementType())
          : type;
  std::optional<Tensor> result;
  if (values.size() == 1 || Tensor::isFoldable(type))
    result = Tensor::fromValues<T>(stored, values);
  return result && stored != type ? result->repeatedAs(type) : result;
}

/// Returns result[i…] = source[offset + Σ i_k · strides[k]]: a transposition, slice, expansion or
/// diagonal. The result of a splat is a splat.
std::optional<Tensor> stridedCopy(const Tensor &source, mlir::RankedTensorType type, int64_t offset,
                                  llvm::ArrayRef<int64_t> strides);

/// Returns result[k] = source[indexOf(k)], with linear indices. Negative indices select `fill`, a
/// tensor of one element.
std::optional<Tensor> indexedCopy(const Tensor &source, mlir::RankedTensorType type,
                                  llvm::function_ref<int64_t(int64_t)> indexOf,
                                  const Tensor *fill = nullptr);

/// Folds result 0 as an elementwise function of operand 0; the result of a splat is a splat.
/// `function` is generic: its argument and result have a type of `dispatchFloat`.
template <typename Function> void mapFloats(Inference &node, Function function) {
  dispatchFloat(node.elementType(0), [&](auto kind) {
    node.fold(0, mapStored<decltype(kind)>(node.storedTensor(0), node.resultType(), function));
  });
}

/// Folds result 0 as an elementwise function of operand 0, for all element types of
/// `dispatchNumber`.
template <typename Function> void mapNumbers(Inference &node, Function function) {
  dispatchNumber(node.elementType(0), [&](auto kind) {
    node.fold(0, mapStored<decltype(kind)>(node.storedTensor(0), node.resultType(), function));
  });
}

/// Returns the tensor of `type` with elements function(a, b), after broadcasting; the result of two
/// splats is a splat. Operands are read as type T; results are computed as type R. Returns nothing
/// for more than `maxFoldedElements` elements.
template <typename R, typename T, typename Function>
std::optional<Tensor> zip(const Tensor &a, const Tensor &b, mlir::RankedTensorType type,
                          Function function) {
  std::vector<T> left = a.compactValues<T>(), right = b.compactValues<T>();
  if (type.getNumElements() == 0)
    return Tensor::allocate(type);
  if (a.isSplat() && b.isSplat()) {
    R value = function(left.front(), right.front());
    return Tensor::fromValues<R>(type, value);
  }
  if (!Tensor::isFoldable(type))
    return std::nullopt;
  const mlir::RankedTensorType distinct = distinctType({&a, &b}, type);
  const llvm::ArrayRef<int64_t> shape = distinct.getShape();
  const std::array strides{stridesOver(a, shape), stridesOver(b, shape)};
  std::vector<R> values(distinct.getNumElements());
  walkIndices(shape, strides, [&](int64_t i, const std::array<int64_t, 2> &at) {
    values[i] = function(left[at[0]], right[at[1]]);
  });
  std::optional<Tensor> result = Tensor::fromValues<R>(distinct, values);
  return distinct == type ? result : result->repeatedAs(type);
}

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_OPERATORS_SUPPORT_EVALUATE_H
