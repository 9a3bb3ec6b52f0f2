// Division of numbers of samples.
#ifndef MTC_RUNTIME_SUPPORT_QUOTIENT_H
#define MTC_RUNTIME_SUPPORT_QUOTIENT_H

#include <cstdint>

namespace mtc::runtime {

/// Returns the quotient of two numbers that are not negative, rounded up.
constexpr int64_t roundedUpQuotient(int64_t dividend, int64_t divisor) {
  return dividend / divisor + (dividend % divisor != 0);
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_QUOTIENT_H
