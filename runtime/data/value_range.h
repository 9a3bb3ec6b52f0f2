// Which values of an integer input its reader takes.
#ifndef MTC_RUNTIME_DATA_VALUE_RANGE_H
#define MTC_RUNTIME_DATA_VALUE_RANGE_H

#include "runtime/abi/program.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mtc::runtime {

/// Whether the program says which values the input takes.
bool hasRange(const MtcInput &input);

/// Whether the input's reader takes the value; `hasRange` holds.
bool takesValue(const MtcInput &input, int64_t value);

/// `0 to 49, or -100 for what is to be ignored`: what the input takes, for messages.
std::string rangeText(const MtcInput &input);

struct WrongValue {
  int64_t index; ///< of the element
  std::string value;
};
/// The first of `count` elements of the input's type that its reader does not take.
std::optional<WrongValue> findWrongValue(const MtcInput &input, const char *values, int64_t count);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_VALUE_RANGE_H
