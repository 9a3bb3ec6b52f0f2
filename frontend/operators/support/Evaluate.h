//===- Evaluate.h - What the evaluations of operators share -----------------------------------===//
//
// Arithmetic is done in one of four C++ types: `float` for f32, f16 and bf16, `double` for f64,
// `uint64_t` for unsigned integers, `int64_t` for signed ones and booleans; `Tensor::fromValues`
// rounds or wraps to the element type. Moving elements around needs their size only.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_OPERATORS_SUPPORT_EVALUATE_H
#define MTC_FRONTEND_OPERATORS_SUPPORT_EVALUATE_H

#include "frontend/dialect/Shapes.h"
#include "frontend/operators/support/Inference.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <array>

namespace mtc::onnx {

/// Calls `function(T())` with the C++ type in which elements of float type `type` are computed.
template <typename Function> auto dispatchFloat(mlir::Type type, Function function) {
  return type.isF64() ? function(double()) : function(float());
}

/// The same for integers and booleans.
template <typename Function> auto dispatchInteger(mlir::Type type, Function function) {
  return type.isUnsignedInteger() ? function(uint64_t()) : function(int64_t());
}

/// The same for any element type.
template <typename Function> auto dispatchNumber(mlir::Type type, Function function) {
  return isa<mlir::FloatType>(type) ? dispatchFloat(type, function)
                                    : dispatchInteger(type, function);
}

/// a + b, a - b and a · b; integers wrap around.
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

/// Visits the index space `shape` in row-major order: `function(linear, offsets)`, where
/// `offsets[k]` is the dot product of the index and `strides[k]`.
template <size_t count, typename Function>
void walkIndices(llvm::ArrayRef<int64_t> shape, const std::array<Extents, count> &strides,
                 Function function) {
  int64_t total = elementCount(shape);
  Extents index(shape.size(), 0);
  std::array<int64_t, count> offsets{};
  for (int64_t linear = 0; linear < total; ++linear) {
    function(linear, offsets);
    for (int64_t axis = static_cast<int64_t>(shape.size()) - 1; axis >= 0; --axis) {
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

/// result[i…] = source[offset + Σ i_k · strides[k]]: transposition, slice, expansion, diagonal. A
/// splat stays one.
std::optional<Tensor> stridedCopy(const Tensor &source, mlir::RankedTensorType type, int64_t offset,
                                  llvm::ArrayRef<int64_t> strides);

/// result[k] = source[indexOf(k)] by linear indices; a negative index takes `fill`, a tensor of one
/// element.
std::optional<Tensor> indexedCopy(const Tensor &source, mlir::RankedTensorType type,
                                  llvm::function_ref<int64_t(int64_t)> indexOf,
                                  const Tensor *fill = nullptr);

/// Result 0 of a node from its operand 0, element by element; a splat stays one. `function` is
/// generic: it is called with, and returns, a value of a type of `dispatchFloat`.
template <typename Function> void mapFloats(Inference &node, Function function) {
  dispatchFloat(node.elementType(0), [&](auto kind) {
    auto values = node.tensor(0).compactValues<decltype(kind)>();
    for (auto &value : values)
      value = function(value);
    node.fold(0, Tensor::fromValues<decltype(kind)>(node.resultType(), values));
  });
}

/// The same for all element types.
template <typename Function> void mapNumbers(Inference &node, Function function) {
  dispatchNumber(node.elementType(0), [&](auto kind) {
    auto values = node.tensor(0).compactValues<decltype(kind)>();
    for (auto &value : values)
      value = function(value);
    node.fold(0, Tensor::fromValues<decltype(kind)>(node.resultType(), values));
  });
}

/// The tensor of `type` with elements function(a, b), both broadcast; splats stay one. T is the
/// type in which operands are read, R the one in which results are written.
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
  if (type.getNumElements() > maxFoldedElements)
    return std::nullopt;
  std::array<Extents, 2> strides{broadcastStrides(a.shape(), type.getShape()),
                                 broadcastStrides(b.shape(), type.getShape())};
  if (a.isSplat())
    strides[0].assign(type.getRank(), 0);
  if (b.isSplat())
    strides[1].assign(type.getRank(), 0);
  std::vector<R> values(type.getNumElements());
  walkIndices(type.getShape(), strides, [&](int64_t i, const std::array<int64_t, 2> &at) {
    values[i] = function(left[at[0]], right[at[1]]);
  });
  return Tensor::fromValues<R>(type, values);
}

} // namespace mtc::onnx

#endif // MTC_FRONTEND_OPERATORS_SUPPORT_EVALUATE_H
