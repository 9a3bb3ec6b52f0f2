// Valid value ranges of integer inputs.
#ifndef MTC_RUNTIME_DATA_VALUE_RANGE_H
#define MTC_RUNTIME_DATA_VALUE_RANGE_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mtc::runtime {

/// Returns whether the program restricts the values of the input.
bool hasRange(const MtcInput &input);

/// Returns whether the input accepts the value. Requires `hasRange`.
bool takesValue(const MtcInput &input, int64_t value);

/// Returns the valid values for messages: `0 to 49, or -100 for what is to be ignored`.
std::string rangeText(const MtcInput &input);

struct WrongValue {
  int64_t index; ///< index of the element in the array
  std::string value;
};
/// Returns the first of `count` elements of the input's type that the input does not accept.
std::optional<WrongValue> findWrongValue(const MtcInput &input, const char *values, int64_t count);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_VALUE_RANGE_H
