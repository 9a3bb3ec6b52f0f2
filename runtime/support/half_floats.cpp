// Conversions in plain loops, which compilers vectorize.
#include "runtime/support/half_floats.h"

#include "runtime/abi/program.h"
#include "runtime/support/bfloat16.h"

#include <cassert>

namespace mtc::runtime {

template <typename From, typename To, typename Convert>
static void convertAll(const void *from, int64_t count, void *to, const Convert &convert) {
  const auto *source = static_cast<const From *>(from);
  auto *destination = static_cast<To *>(to);
  for (int64_t i = 0; i < count; ++i)
    destination[i] = convert(source[i]);
}

void widenFloats(uint32_t type, const char *from, int64_t count, float *to) {
  assert(type == MTC_BF16 || type == MTC_F16);
  if (type == MTC_BF16)
    convertAll<uint16_t, float>(from, count, to, fromBf16);
  else
    convertAll<_Float16, float>(from, count, to, [](_Float16 v) { return static_cast<float>(v); });
}

void narrowFloats(uint32_t type, const float *from, int64_t count, char *to) {
  assert(type == MTC_BF16 || type == MTC_F16);
  if (type == MTC_BF16)
    convertAll<float, uint16_t>(from, count, to, toBf16);
  else
    convertAll<float, _Float16>(from, count, to, [](float v) { return static_cast<_Float16>(v); });
}

} // namespace mtc::runtime
