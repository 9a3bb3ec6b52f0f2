// Conversion of elements between types while data is read.
#ifndef MTC_RUNTIME_DATA_VALUE_CONVERSION_H
#define MTC_RUNTIME_DATA_VALUE_CONVERSION_H

#include <cstdint>
#include <string>

namespace mtc::runtime {

/// Returns whether `convertValues` accepts these types: all but the 8-bit floats, unless they are
/// equal.
bool isConvertible(uint32_t from, uint32_t to);

/// Converts `count` packed elements to the type `toType`, whose elements `to` is aligned for.
/// Integers and booleans receive the same value; floats receive the nearest one, ties to even.
/// Returns the index of the first element that has no such value: a fraction, a value that is not
/// finite, or one outside the range of `toType`. Returns `count` if there is none.
int64_t convertValues(uint32_t fromType, const char *from, int64_t count, uint32_t toType,
                      char *to);

/// Returns an element in decimal notation, for messages.
std::string valueText(uint32_t type, const char *values, int64_t index);

/// Returns the values that a type can represent, for messages: `whole numbers from 0 to 255`.
std::string valuesOfType(uint32_t type);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_VALUE_CONVERSION_H
