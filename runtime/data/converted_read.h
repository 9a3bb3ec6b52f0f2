// Reading of arrays whose elements are converted.
#ifndef MTC_RUNTIME_DATA_CONVERTED_READ_H
#define MTC_RUNTIME_DATA_CONVERTED_READ_H

#include "runtime/io/array_on_disk.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mtc::runtime {

/// An element that a type cannot represent.
struct Unrepresentable {
  int64_t index; ///< among the elements that are read
  std::string value;
};

/// Reads `count` elements of an array, from element `first` on, as elements of `type`. Returns the
/// first one that has no value in the type. Uses a fixed amount of memory on the stack.
std::optional<Unrepresentable> readConverted(const ArrayOnDisk &array, int64_t first, int64_t count,
                                             uint32_t type, char *to);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_DATA_CONVERTED_READ_H
