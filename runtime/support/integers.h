// Dispatch on integer types that are known only at run time.
#ifndef MTC_RUNTIME_SUPPORT_INTEGERS_H
#define MTC_RUNTIME_SUPPORT_INTEGERS_H

#include "runtime/abi/program.h"

#include <cassert>
#include <cstdint>
#include <cstring>

namespace mtc::runtime {

/// Calls `action` with a value of the integer type.
template <typename Action> decltype(auto) withInteger(uint32_t type, const Action &action) {
  switch (type) {
  case MTC_I64:
    return action(int64_t{});
  case MTC_I32:
    return action(int32_t{});
  case MTC_I16:
    return action(int16_t{});
  case MTC_I8:
    return action(int8_t{});
  case MTC_U64:
    return action(uint64_t{});
  case MTC_U32:
    return action(uint32_t{});
  case MTC_U16:
    return action(uint16_t{});
  default:
    assert(type == MTC_U8 && "not an integer type");
    return action(uint8_t{});
  }
}

/// Returns element `index` of densely packed, possibly unaligned values.
template <typename Value> Value elementAt(const char *values, int64_t index) {
  Value value;
  std::memcpy(&value, values + index * static_cast<int64_t>(sizeof value), sizeof value);
  return value;
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_INTEGERS_H
