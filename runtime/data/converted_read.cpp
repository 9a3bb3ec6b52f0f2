// Reads a fixed number of elements at a time.
#include "runtime/data/converted_read.h"

#include "runtime/data/value_conversion.h"
#include "runtime/support/element_type.h"

#include <algorithm>
#include <array>

namespace mtc::runtime {

std::optional<Unrepresentable> readConverted(const ArrayOnDisk &array, int64_t first, int64_t count,
                                             uint32_t type, char *to) {
  constexpr int64_t maxElements = 4096, maxElementBytes = 8;
  alignas(maxElementBytes) std::array<char, maxElements * maxElementBytes> source;
  const int64_t sourceBytes = typeBytes(array.type);
  for (int64_t done = 0; done < count; done += maxElements) {
    const int64_t size = std::min(maxElements, count - done);
    array.file->read(array.offset + (first + done) * sourceBytes, source.data(),
                     size * sourceBytes);
    const int64_t valid =
        convertValues(array.type, source.data(), size, type, to + done * typeBytes(type));
    if (valid < size)
      return Unrepresentable{done + valid, valueText(array.type, source.data(), valid)};
  }
  return std::nullopt;
}

} // namespace mtc::runtime
