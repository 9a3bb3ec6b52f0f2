#include "runtime/reports/report_text.h"

#include "runtime/support/failure.h"
#include "support/pages/html.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

namespace mtc::runtime {

std::string formatNumber(const char *format, double value) {
  std::array<char, 64> buffer;
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

std::string numberText(double value) {
  constexpr double minWhole = 1e4, longest = 1e15;
  if (!std::isfinite(value))
    return "–";
  if (std::fabs(value) >= minWhole && std::fabs(value) < longest)
    return (value < 0 ? "-" : "") + html::wholeText(std::llround(std::fabs(value)));
  return formatNumber("%.5g", value);
}

std::string shortNumberText(double value) {
  return std::fabs(value) < 1e4 ? formatNumber("%.4g", value) : numberText(value);
}

std::string countedText(int64_t count, const char *noun) {
  return text(html::wholeText(count), " ", noun, count == 1 ? "" : "s");
}

std::string timeText(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  std::array<char, 64> buffer{};
  if (localtime_r(&time, &parts))
    std::strftime(buffer.data(), buffer.size(), "%Y-%m-%d %H:%M %Z", &parts);
  return buffer.data();
}

std::string millisecondsText(double seconds) {
  return seconds >= 1 ? formatNumber("%.2f s", seconds) : formatNumber("%.3g ms", seconds * 1e3);
}

std::string stepsText(const StepRange &range) {
  return range.first == range.last
             ? "step " + html::wholeText(range.first)
             : "steps " + html::wholeText(range.first) + " – " + html::wholeText(range.last);
}

} // namespace mtc::runtime
