// Conversions in plain loops: integers directly, floats through f32 or f64.
#include "runtime/data/value_conversion.h"

#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/floats.h"
#include "runtime/support/integers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace mtc::runtime {
namespace {

/// The number of elements that are converted at once through another type.
constexpr int64_t blockElements = 1024;
using Floats = std::array<float, blockElements>;
using Doubles = std::array<double, blockElements>;

/// Whole numbers, of which booleans are 0 and 1.
bool isWhole(uint32_t type) { return isInteger(type) || type == MTC_BOOL; }

/// Calls `action` with a value of the type in which whole numbers are stored.
template <typename Action> decltype(auto) withWhole(uint32_t type, const Action &action) {
  return withInteger(type == MTC_BOOL ? static_cast<uint32_t>(MTC_U8) : type, action);
}

template <typename Value> void put(char *values, int64_t index, Value value) {
  std::memcpy(values + index * static_cast<int64_t>(sizeof value), &value, sizeof value);
}

/// Reads whole numbers: read(i) is element `i`. Nonzero bytes of booleans are 1.
template <typename Action>
decltype(auto) withWholes(uint32_t type, const char *from, const Action &action) {
  return withWhole(type, [&](auto example) {
    using Value = decltype(example);
    if (type == MTC_BOOL)
      return action([from](int64_t i) { return static_cast<Value>(from[i] != 0); });
    return action([from](int64_t i) { return elementAt<Value>(from, i); });
  });
}

int64_t convertWholes(uint32_t fromType, const char *from, int64_t count, uint32_t toType,
                      char *to) {
  return withWholes(fromType, from, [&](const auto &read) {
    return withWhole(toType, [&](auto example) {
      using To = decltype(example);
      for (int64_t i = 0; i < count; ++i) {
        const auto value = read(i);
        if (!std::in_range<To>(value) || (toType == MTC_BOOL && value > 1))
          return i;
        put(to, i, static_cast<To>(value));
      }
      return count;
    });
  });
}

/// Narrows f64 to f32. Returns the index of the first finite value beyond the range of f32.
int64_t narrowDoubles(const char *from, int64_t count, float *to) {
  for (int64_t i = 0; i < count; ++i) {
    const auto value = elementAt<double>(from, i);
    to[i] = static_cast<float>(value);
    if (std::isinf(to[i]) && !std::isinf(value))
      return i;
  }
  return count;
}

int64_t convertToFloats(uint32_t fromType, const char *from, int64_t count, float *to) {
  if (fromType == MTC_F64)
    return narrowDoubles(from, count, to);
  if (fromType == MTC_F32)
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof *to);
  else if (mtc_is_narrow_float(fromType))
    widenFloats(fromType, from, count, to);
  else
    withWholes(fromType, from, [&](const auto &read) {
      for (int64_t i = 0; i < count; ++i)
        to[i] = static_cast<float>(read(i));
    });
  return count;
}

/// Converts at most `blockElements` elements. The conversion is exact except for integers above
/// 2^53.
void convertToDoubles(uint32_t fromType, const char *from, int64_t count, double *to) {
  if (fromType == MTC_F64) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof *to);
  } else if (isWhole(fromType)) {
    withWholes(fromType, from, [&](const auto &read) {
      for (int64_t i = 0; i < count; ++i)
        to[i] = static_cast<double>(read(i));
    });
  } else {
    Floats floats;
    convertToFloats(fromType, from, count, floats.data());
    std::copy_n(floats.data(), count, to);
  }
}

/// Converts floats to whole numbers.
int64_t convertFromDoubles(const double *from, int64_t count, uint32_t toType, char *to) {
  return withWhole(toType, [&](auto example) {
    using To = decltype(example);
    // 2^digits is exact, in contrast to the largest value.
    const double minimum = static_cast<double>(std::numeric_limits<To>::min()),
                 limit =
                     toType == MTC_BOOL ? 2.0 : std::ldexp(1.0, std::numeric_limits<To>::digits);
    for (int64_t i = 0; i < count; ++i) {
      const double value = from[i];
      if (!(value >= minimum && value < limit) || value != std::trunc(value))
        return i;
      put(to, i, static_cast<To>(value));
    }
    return count;
  });
}

/// Narrows f32 to f16 or bf16. Returns the index of the first finite value beyond the range.
int64_t narrowHalves(uint32_t toType, const float *from, int64_t count, char *to) {
  Floats rounded;
  narrowFloats(toType, from, count, to);
  widenFloats(toType, to, count, rounded.data());
  for (int64_t i = 0; i < count; ++i)
    if (std::isinf(rounded[static_cast<size_t>(i)]) && !std::isinf(from[i]))
      return i;
  return count;
}

/// Converts at most `blockElements` elements through f32 or f64.
int64_t convertBlock(uint32_t fromType, const char *from, int64_t count, uint32_t toType,
                     char *to) {
  if (mtc_is_narrow_float(toType)) {
    Floats floats;
    const int64_t valid = convertToFloats(fromType, from, count, floats.data());
    return std::min(valid, narrowHalves(toType, floats.data(), valid, to));
  }
  Doubles doubles;
  convertToDoubles(fromType, from, count, doubles.data());
  if (toType != MTC_F64)
    return convertFromDoubles(doubles.data(), count, toType, to);
  std::memcpy(to, doubles.data(), static_cast<size_t>(count) * sizeof(double));
  return count;
}

} // namespace

bool isConvertible(uint32_t from, uint32_t to) {
  auto isByteFloat = [](uint32_t type) { return mtc_float_format(type).bits == 8; };
  return from == to || (!isByteFloat(from) && !isByteFloat(to));
}

int64_t convertValues(uint32_t fromType, const char *from, int64_t count, uint32_t toType,
                      char *to) {
  if (fromType == toType && fromType != MTC_BOOL) {
    std::memcpy(to, from, static_cast<size_t>(count * typeBytes(toType)));
    return count;
  }
  if (isWhole(fromType) && isWhole(toType))
    return convertWholes(fromType, from, count, toType, to);
  if (toType == MTC_F32)
    return convertToFloats(fromType, from, count, reinterpret_cast<float *>(to));
  for (int64_t at = 0; at < count; at += blockElements) {
    const int64_t block = std::min(blockElements, count - at);
    const int64_t valid = convertBlock(fromType, from + at * typeBytes(fromType), block, toType,
                                       to + at * typeBytes(toType));
    if (valid < block)
      return at + valid;
  }
  return count;
}

std::string valueText(uint32_t type, const char *values, int64_t index) {
  const char *value = values + index * typeBytes(type);
  if (isWhole(type))
    return withWholes(type, value, [](const auto &read) { return std::to_string(read(0)); });
  double number = 0;
  convertToDoubles(type, value, 1, &number);
  return text(number);
}

std::string valuesOfType(uint32_t type) {
  if (type == MTC_BOOL)
    return "0 and 1";
  if (isInteger(type))
    return withInteger(type, [](auto example) {
      using Limits = std::numeric_limits<decltype(example)>;
      return text("whole numbers from ", std::to_string(Limits::min()), " to ",
                  std::to_string(Limits::max()));
    });
  return mtc_has_small_range(type) ? "values up to 65504" : "values up to 3.4e+38";
}

} // namespace mtc::runtime
