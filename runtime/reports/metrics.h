// --metrics: one JSON object per line and step, written as soon as the step is complete.
#ifndef MTC_RUNTIME_REPORTS_METRICS_H
#define MTC_RUNTIME_REPORTS_METRICS_H

#include <cstdint>
#include <optional>
#include <string>

namespace mtc::runtime {

struct StepMetrics {
  int64_t step; ///< from 1
  double loss;  ///< before the update; null in the file if not finite
  double learningRate;
  std::optional<double> gradientNorm; ///< norm of all gradients, before clipping
  std::optional<double> lossScale;    ///< if the program scales its loss
  bool skipped = false;               ///< a gradient was not finite, so the update was skipped
  double seconds = 0;
};

class MetricsFile {
public:
  /// Creates the file, or, in a resumed run, continues it after `lastStep` steps and removes the
  /// lines of later steps.
  MetricsFile(std::string path, int64_t lastStep);
  ~MetricsFile();
  MetricsFile(const MetricsFile &) = delete;
  MetricsFile &operator=(const MetricsFile &) = delete;

  void write(const StepMetrics &metrics);
  /// Writes one line of JSON. Throws a system error if it cannot be written completely; the file
  /// then contains no part of the line.
  void writeLine(const std::string &json);

private:
  void dropLinesAfter(int64_t lastStep);
  void dropEnd(int64_t bytes);
  void put(const std::string &all);

  std::string path;
  std::string line; ///< line buffer, reused for each step
  int descriptor = -1;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_METRICS_H
