// Metrics as JSON lines.
#include "runtime/reports/metrics.h"

#include "runtime/reports/metric_fields.h"

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>

namespace mtc::runtime {

MetricsFile::MetricsFile(const std::string &path, int64_t lastStep)
    : file(path, "--metrics " + path,
           lastStep ? AppendedFile::Existing::Kept : AppendedFile::Existing::Emptied) {
  if (lastStep > 0)
    dropLinesAfter(path, lastStep);
}

void MetricsFile::dropLinesAfter(const std::string &path, int64_t lastStep) {
  std::ifstream lines(path);
  int64_t kept = 0;
  for (std::string each; std::getline(lines, each) && !lines.eof();) {
    auto json = nlohmann::json::parse(each, nullptr, false);
    if (!json.is_object() || !json["step"].is_number_integer() ||
        json["step"].get<int64_t>() > lastStep)
      break;
    kept += static_cast<int64_t>(each.size()) + 1;
  }
  file.truncate(kept);
}

/// Appends `"key":value`. Values that are not finite become null; integral values of a
/// floating-point type end with ".0".
template <typename Value>
static void append(std::string &line, std::string_view key, const Value &value) {
  line += line.empty() ? "{\"" : ",\"";
  line += key;
  line += "\":";
  if constexpr (std::is_same_v<Value, bool>) {
    line += value ? "true" : "false";
  } else {
    if (!std::isfinite(static_cast<double>(value))) {
      line += "null";
      return;
    }
    std::array<char, 32> digits;
    const char *end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    const std::string_view text(digits.data(), static_cast<size_t>(end - digits.data()));
    line += text;
    if (std::is_floating_point_v<Value> && text.find_first_of(".e") == std::string_view::npos)
      line += ".0";
  }
}

void MetricsFile::begin(const RunFacts &given) { facts = given; }

void MetricsFile::step(const StepMetrics &metrics) {
  line.clear();
  append(line, "step", metrics.step);
  forEachField(metrics, facts,
               [&](const char *name, const auto &value) { append(line, name, value); });
  endLine();
}

void MetricsFile::validation(const ValidationMetrics &metrics) {
  line.clear();
  append(line, "step", metrics.step);
  forEachField(metrics, [&](const std::string &name, const auto &value) {
    append(line, "validation_" + name, value);
  });
  append(line, "best", metrics.isBest);
  endLine();
}

/// Writes the line in place, since a step allocates nothing.
void MetricsFile::endLine() {
  line += "}\n";
  file.append(line);
}

void MetricsFile::writeLine(const std::string &json) { file.append(json + "\n"); }

} // namespace mtc::runtime
