// Parsers of numbers in flags, for the compiler and its programs. Each sets the value and returns
// "", or returns the problem as the end of a message, such as "expected a whole number, such as 8".
#ifndef MTC_RUNTIME_ABI_NUMBER_H
#define MTC_RUNTIME_ABI_NUMBER_H

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace mtc::abi {

/// The range of positive numbers of f32, in which programs compute, rounded for messages.
inline constexpr double minF32 = 1.2e-38, maxF32 = 3.4e38;

/// The greatest limit of a time; clocks count at most 9.2e18 nanoseconds.
inline constexpr double maxSeconds = 1e9;

/// Parses a finite number in decimal notation. Rejects hexadecimal numbers, which messages would
/// print in decimal, words such as "inf", and nonzero numbers that a double rounds to 0.
inline std::string parseNumber(std::string_view text, double &value) {
  const bool isDecimal = text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
  const std::string terminated(text);
  char *end = nullptr;
  const double parsed = std::strtod(terminated.c_str(), &end);
  if (text.empty() || !isDecimal || end != terminated.c_str() + text.size() ||
      !std::isfinite(parsed))
    return "expected a finite number, such as 0.001";
  const std::string_view digits = text.substr(0, text.find_first_of("eE"));
  if (parsed == 0.0 && digits.find_first_of("123456789") != std::string_view::npos)
    return "is too close to 0 for a 64-bit number; expected 0, or at least 1e-300";
  value = parsed;
  return "";
}

/// Parses a whole number in decimal notation.
inline std::string parseNumber(std::string_view text, int64_t &value) {
  int64_t parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (end == text.data() + text.size() && error == std::errc::result_out_of_range)
    return "is too large for a 64-bit number";
  if (end != text.data() + text.size() || error != std::errc())
    return "expected a whole number, such as 8";
  value = parsed;
  return "";
}

} // namespace mtc::abi

#endif // MTC_RUNTIME_ABI_NUMBER_H
