// Checks of integer values against the valid range of an input.
#include "runtime/data/value_range.h"

#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/integers.h"

namespace mtc::runtime {

bool hasRange(const MtcInput &input) {
  return input.minimum < input.limit && isInteger(input.tensor.type);
}

bool takesValue(const MtcInput &input, int64_t value) {
  return (value >= input.minimum && value < input.limit) ||
         (input.is_label && value == input.ignored);
}

std::string rangeText(const MtcInput &input) {
  return text(input.minimum, " to ", input.limit - 1,
              input.is_label ? text(", or ", input.ignored, " for what is to be ignored") : "");
}

std::optional<WrongValue> findWrongValue(const MtcInput &input, const char *values, int64_t count) {
  return withInteger(input.tensor.type, [&](auto example) -> std::optional<WrongValue> {
    for (int64_t i = 0; i < count; ++i) {
      auto value = elementAt<decltype(example)>(values, i);
      if (!takesValue(input, static_cast<int64_t>(value)))
        return WrongValue{i, std::to_string(value)};
    }
    return std::nullopt;
  });
}

} // namespace mtc::runtime
