// Metrics as JSON lines, each written with one system call.
#include "runtime/reports/metrics.h"

#include "runtime/support/failure.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {

MetricsFile::MetricsFile(std::string path, int64_t lastStep) : path(std::move(path)) {
  int fresh = lastStep == 0 ? O_TRUNC : 0;
  descriptor = open(this->path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | fresh, 0666);
  if (descriptor < 0)
    userError("--metrics ", this->path, ": cannot be written: ", std::strerror(errno));
  if (lastStep > 0)
    dropLinesAfter(lastStep);
}

MetricsFile::~MetricsFile() {
  if (descriptor >= 0)
    close(descriptor);
}

void MetricsFile::dropLinesAfter(int64_t lastStep) {
  std::ifstream file(path);
  int64_t kept = 0;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json["step"].is_number_integer() ||
        json["step"].get<int64_t>() > lastStep)
      break;
    kept += static_cast<int64_t>(line.size()) + 1;
  }
  // Pipes and terminals cannot be truncated.
  if (ftruncate(descriptor, kept) != 0 && errno != EINVAL)
    systemError("--metrics ", path, ": cannot be shortened: ", std::strerror(errno));
}

/// Appends `"key":value`. Values that are not finite become null; integral values of a
/// floating-point type end with ".0".
template <typename Number> static void append(std::string &line, const char *key, Number value) {
  line += line.empty() ? "{\"" : ",\"";
  line += key;
  line += "\":";
  if (!std::isfinite(static_cast<double>(value))) {
    line += "null";
    return;
  }
  std::array<char, 32> digits;
  const char *end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  const std::string_view text(digits.data(), static_cast<size_t>(end - digits.data()));
  line += text;
  if (std::is_floating_point_v<Number> && text.find_first_of(".e") == std::string_view::npos)
    line += ".0";
}

void MetricsFile::begin(const RunFacts &given) { facts = given; }

void MetricsFile::step(const StepMetrics &metrics) {
  line.clear();
  append(line, "step", metrics.step);
  append(line, "loss", metrics.loss);
  append(line, "lr", metrics.learningRate);
  if (metrics.gradientNorm)
    append(line, "grad_norm", *metrics.gradientNorm);
  if (metrics.lossScale) {
    append(line, "loss_scale", *metrics.lossScale);
    line += metrics.skipped ? ",\"skipped\":true" : ",\"skipped\":false";
  }
  append(line, "step_seconds", metrics.seconds);
  if (const std::optional<double> rate = facts.samplesPerSecond(metrics))
    append(line, "samples_per_second", *rate);
  if (const std::optional<double> rate = facts.tokensPerSecond(metrics))
    append(line, "tokens_per_second", *rate);
  line += "}\n";
  put(line);
}

void MetricsFile::validation(const ValidationMetrics &metrics) {
  line.clear();
  append(line, "step", metrics.step);
  append(line, "validation_loss", metrics.loss);
  for (const auto &[name, value] : metrics.metrics)
    append(line, ("validation_" + name).c_str(), value);
  append(line, "validation_samples", metrics.samples);
  append(line, "validation_seconds", metrics.seconds);
  line += metrics.isBest ? ",\"best\":true" : ",\"best\":false";
  line += "}\n";
  put(line);
}

void MetricsFile::writeLine(const std::string &json) { put(json + "\n"); }

void MetricsFile::put(const std::string &all) {
  for (size_t done = 0; done < all.size();) {
    ssize_t written = ::write(descriptor, all.data() + done, all.size() - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      const int error = written < 0 ? errno : EIO;
      dropEnd(static_cast<int64_t>(done));
      systemError("--metrics ", path, ": cannot be written: ", std::strerror(error));
    }
    done += static_cast<size_t>(written);
  }
}

/// Removes a partial line, written before the disk became full, which readers could not parse.
void MetricsFile::dropEnd(int64_t bytes) {
  struct stat status;
  if (bytes > 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) [[maybe_unused]]
    int ignored = ftruncate(descriptor, status.st_size - bytes);
}

} // namespace mtc::runtime
