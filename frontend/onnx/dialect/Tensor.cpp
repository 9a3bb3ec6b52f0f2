//===- Tensor.cpp - Compile-time tensor values ------------------------------------------------===//

#include "frontend/onnx/dialect/Tensor.h"

#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/dialect/Shapes.h"
#include "ir/TypeCode.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace mtc::onnx {
namespace {

/// IEEE binary16.
struct Half {
  _Float16 value;
  Half() = default;
  template <typename T> explicit Half(T x) : value(static_cast<_Float16>(x)) {}
  template <typename T> explicit operator T() const { return static_cast<T>(value); }
};

/// bfloat16: the upper half of a float, rounded to nearest even.
struct BFloat {
  uint16_t bits;
  BFloat() = default;
  template <typename T> explicit BFloat(T x) {
    uint32_t word = llvm::bit_cast<uint32_t>(static_cast<float>(x));
    bool isNaN = (word & 0x7fffffffu) > 0x7f800000u;
    bits = isNaN ? uint16_t((word >> 16) | 0x40u)
                 : uint16_t((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
  explicit operator float() const { return llvm::bit_cast<float>(uint32_t(bits) << 16); }
  template <typename T> explicit operator T() const {
    return static_cast<T>(static_cast<float>(*this));
  }
};

struct Bool {
  uint8_t value;
};

/// An integer of 2 or 4 bits. Conversions discard the upper bits.
template <unsigned width, typename Byte> struct Narrow {
  Byte value;
  Narrow() = default;
  explicit Narrow(int64_t x) {
    int64_t low = x & ((1 << width) - 1);
    bool isNegative = std::is_signed_v<Byte> && ((low >> (width - 1)) != 0);
    value = static_cast<Byte>(isNegative ? low - (1 << width) : low);
  }
};

template <typename T> constexpr bool isNarrow = false;
template <unsigned width, typename Byte> constexpr bool isNarrow<Narrow<width, Byte>> = true;

/// Calls `function` with a value of the C++ type that represents elements of `type` in memory.
template <typename Function> auto dispatch(Type type, Function function) {
  if (type.isF32())
    return function(float());
  if (type.isF64())
    return function(double());
  if (type.isF16())
    return function(Half());
  if (type.isBF16())
    return function(BFloat());
  bool isUnsigned = type.isUnsignedInteger();
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return function(Bool());
  case 2:
    return isUnsigned ? function(Narrow<2, uint8_t>()) : function(Narrow<2, int8_t>());
  case 4:
    return isUnsigned ? function(Narrow<4, uint8_t>()) : function(Narrow<4, int8_t>());
  case 8:
    return isUnsigned ? function(uint8_t()) : function(int8_t());
  case 16:
    return isUnsigned ? function(uint16_t()) : function(int16_t());
  case 32:
    return isUnsigned ? function(uint32_t()) : function(int32_t());
  default:
    return isUnsigned ? function(uint64_t()) : function(int64_t());
  }
}

/// Converts a float to an integer: truncates, saturates and maps NaN to 0, because C++ leaves these
/// cases undefined.
template <typename To> To truncated(double value) {
  if (std::isnan(value))
    return 0;
  if (value <= static_cast<double>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  if (value >= static_cast<double>(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

template <typename To, typename From> To convert(From from) {
  if constexpr (std::is_same_v<From, Bool> || isNarrow<From>)
    return convert<To>(from.value);
  else if constexpr (isNarrow<To>)
    return To(convert<int64_t>(from));
  else if constexpr (std::is_same_v<To, Bool>)
    return Bool{static_cast<uint8_t>(from != From(0))};
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>)
    return truncated<To>(static_cast<double>(from));
  else if constexpr (std::is_integral_v<To> && !std::is_integral_v<From>)
    return truncated<To>(static_cast<double>(from));
  else
    return static_cast<To>(from);
}

} // namespace

bool Tensor::holds(Type type) {
  if (type.isF32() || type.isF64() || isNarrowFloat(type) || type.isInteger(1))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer && llvm::is_contained({2u, 4u, 8u, 16u, 32u, 64u}, integer.getWidth());
}

int64_t Tensor::elementSize(Type type) {
  return std::max<int64_t>(type.getIntOrFloatBitWidth() / 8, 1);
}

Tensor Tensor::allocateUnchecked(RankedTensorType type, bool splat) {
  int64_t count = (splat ? 1 : type.getNumElements()) * elementSize(type.getElementType());
  std::shared_ptr<char[]> buffer(new char[std::max<int64_t>(count, 1)]);
  llvm::ArrayRef<char> data(buffer.get(), count);
  return Tensor(type, data, splat, std::move(buffer));
}

bool Tensor::isFoldable(RankedTensorType type) {
  int64_t count = 1;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(count, extent, count) || count > maxFoldedElements)
      return false;
  return count * elementSize(type.getElementType()) <= maxFoldedBytes;
}

std::optional<Tensor> Tensor::allocate(RankedTensorType type) {
  if (!isFoldable(type))
    return std::nullopt;
  return allocateUnchecked(type, type.getNumElements() == 1);
}

std::optional<Tensor> Tensor::fromAttribute(ElementsAttr attribute) {
  auto type = dyn_cast<RankedTensorType>(attribute.getShapedType());
  if (!type || !type.hasStaticShape() || !holds(type.getElementType()))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(attribute)) {
    bool splat = type.getNumElements() == 1 || (type.getNumElements() != 0 && dense.isSplat());
    if (isPacked(type.getElementType())) {
      // MLIR stores one element in a byte, whose upper bits are 0.
      Tensor result = allocateUnchecked(type, splat);
      char *out = result.mutableBytes().data();
      dispatch(type.getElementType(), [&](auto element) {
        for (char byte : dense.getRawData().take_front(result.data.size()))
          *out++ = static_cast<char>(convert<int64_t>(convert<decltype(element)>(int64_t(byte))));
      });
      return result;
    }
    if (!type.getElementType().isInteger(1))
      return Tensor(type, dense.getRawData(), splat, nullptr);
    Tensor result = allocateUnchecked(type, splat);
    char *out = result.mutableBytes().data();
    if (splat)
      *out = dense.getSplatValue<bool>();
    else
      for (bool value : dense.getValues<bool>())
        *out++ = value;
    return result;
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    int64_t bytes = type.getNumElements() * elementSize(type.getElementType());
    if (!blob || static_cast<int64_t>(blob->getData().size()) != bytes)
      return std::nullopt;
    return Tensor(type, blob->getData(), type.getNumElements() == 1, nullptr);
  }
  return std::nullopt;
}

std::optional<Tensor> Tensor::fromAttribute(ElementsAttr attribute, RankedTensorType type) {
  std::optional<Tensor> result = fromAttribute(attribute);
  return result && result->type() != type ? result->repeatedAs(type) : result;
}

DenseElementsAttr Tensor::toAttribute() const { return expanded().toStoredAttribute(); }

DenseElementsAttr Tensor::toStoredAttribute() const {
  if (size() == 0)
    return DenseElementsAttr::get(tensorType, llvm::ArrayRef<Attribute>());
  const Tensor simple = simplified();
  llvm::ArrayRef<char> used = simple.data;
  const RankedTensorType type = simple.splat ? tensorType : stored;
  if (tensorType.getElementType().isInteger(1))
    return DenseElementsAttr::get(
        type, llvm::ArrayRef(reinterpret_cast<const bool *>(used.data()), used.size()));
  if (!isPacked(tensorType.getElementType()))
    return DenseElementsAttr::getFromRawBuffer(type, used);
  int mask = (1 << tensorType.getElementTypeBitWidth()) - 1;
  std::vector<char> bits;
  for (char byte : used)
    bits.push_back(static_cast<char>(byte & mask));
  return DenseElementsAttr::getFromRawBuffer(type, bits);
}

template <typename T>
std::optional<Tensor> Tensor::fromValues(RankedTensorType type, llvm::ArrayRef<T> values) {
  bool splat = values.size() == 1;
  std::optional<Tensor> result =
      splat ? std::optional(allocateUnchecked(type, true)) : allocate(type);
  if (!result)
    return std::nullopt;
  dispatch(type.getElementType(), [&](auto element) {
    using Element = decltype(element);
    auto *out = reinterpret_cast<Element *>(result->mutableBytes().data());
    for (size_t i = 0, count = values.size(); i < count; ++i)
      out[i] = convert<Element>(values[i]);
  });
  return result;
}

Tensor Tensor::fromInts(MLIRContext *context, llvm::ArrayRef<int64_t> values) {
  auto type =
      RankedTensorType::get({static_cast<int64_t>(values.size())}, IntegerType::get(context, 64));
  Tensor result = allocateUnchecked(type, values.size() == 1);
  if (!values.empty())
    std::memcpy(result.mutableBytes().data(), values.data(), values.size() * sizeof(int64_t));
  return result;
}

template <typename T> std::vector<T> Tensor::compactValues() const {
  return dispatch(tensorType.getElementType(), [&](auto element) {
    using Element = decltype(element);
    const auto *in = reinterpret_cast<const Element *>(data.data());
    std::vector<T> out(data.size() / sizeof(Element));
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = convert<T>(in[i]);
    return out;
  });
}

template <typename T> std::vector<T> Tensor::values() const {
  if (isRepeated())
    return expanded().compactValues<T>();
  std::vector<T> compact = compactValues<T>();
  if (splat && size() != 1)
    compact.assign(size(), compact.front());
  return compact;
}

Tensor Tensor::simplified() const {
  size_t width = elementSize();
  if (splat || data.size() < width ||
      std::memcmp(data.data(), data.data() + width, data.size() - width) != 0)
    return *this;
  return Tensor(tensorType, data.take_front(width), /*splat=*/true, owner);
}

Tensor Tensor::withType(RankedTensorType type) const {
  assert(type.getElementType() == tensorType.getElementType() && "the element type stays");
  assert((splat || type.getNumElements() == size()) && "the number of elements stays");
  assert(!isRepeated() && "a shape of other axes repeats other elements");
  return Tensor(type, data, splat, owner);
}

Tensor Tensor::repeatedAs(RankedTensorType type) const {
  assert(!isRepeated() && "the elements are repeated once");
  Tensor result(type, data, splat, owner);
  if (!splat)
    result.stored = tensorType;
  return result;
}

/// Copies elements of shape `from` to `out`, of shape `to`, which repeats those of axes with an
/// extent of 1.
static void copyRepeated(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to, int64_t width,
                         const char *in, char *out) {
  if (from == to) {
    std::memcpy(out, in, elementCount(to) * width);
    return;
  }
  const int64_t extent = from.front(), repeated = to.front();
  from = from.drop_front();
  to = to.drop_front();
  const int64_t inner = elementCount(from) * width, outInner = elementCount(to) * width;
  for (int64_t i = 0; i < extent; ++i)
    copyRepeated(from, to, width, in + i * inner, out + i * outInner);
  for (int64_t i = extent; i < repeated; ++i)
    std::memcpy(out + i * outInner, out, outInner);
}

Tensor Tensor::expanded() const {
  if (!isRepeated())
    return *this;
  Tensor result = allocateUnchecked(tensorType, /*splat=*/false);
  copyRepeated(stored.getShape(), shape(), elementSize(), data.data(),
               result.mutableBytes().data());
  return result;
}

bool Tensor::isUniform(int64_t axis) const {
  llvm::ArrayRef<int64_t> extents = stored.getShape();
  if (splat || extents[axis] == 1)
    return true;
  const int64_t inner = elementCount(extents.drop_front(axis + 1)) * elementSize();
  const int64_t whole = extents[axis] * inner; // All but the first part equal their predecessors.
  for (const char *at = data.begin(); at != data.end(); at += whole)
    if (std::memcmp(at, at + inner, whole - inner) != 0)
      return false;
  return true;
}

#define MTC_INSTANTIATE(T)                                                                         \
  template std::optional<Tensor> Tensor::fromValues<T>(RankedTensorType, llvm::ArrayRef<T>);       \
  template std::vector<T> Tensor::compactValues<T>() const;                                        \
  template std::vector<T> Tensor::values<T>() const;
MTC_INSTANTIATE(float)
MTC_INSTANTIATE(double)
MTC_INSTANTIATE(int64_t)
MTC_INSTANTIATE(uint64_t)
MTC_INSTANTIATE(uint8_t)
#undef MTC_INSTANTIATE

} // namespace mtc::onnx
