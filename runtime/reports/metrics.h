// --metrics: one JSON object a line and step, complete as soon as the step is.
#ifndef MTC_RUNTIME_REPORTS_METRICS_H
#define MTC_RUNTIME_REPORTS_METRICS_H

#include <cstdint>
#include <optional>
#include <string>

namespace mtc::runtime {

struct StepMetrics {
  int64_t step; ///< from 1
  double loss;  ///< before the update; not finite is written as null
  double learningRate;
  std::optional<double> gradientNorm; ///< of all gradients, before they are clipped by it
  std::optional<double> lossScale;    ///< where the program scales its loss
  bool skipped = false;               ///< a gradient was not finite, so nothing was updated
  double seconds = 0;
};

class MetricsFile {
public:
  /// Creates the file, or goes on with it after `lastStep` steps (a resumed run): lines of later
  /// steps are dropped.
  MetricsFile(std::string path, int64_t lastStep);
  ~MetricsFile();
  MetricsFile(const MetricsFile &) = delete;
  MetricsFile &operator=(const MetricsFile &) = delete;

  void write(const StepMetrics &metrics);
  /// Writes one line of JSON; a fault of the system if it cannot be written as a whole, and then
  /// the file holds none of it.
  void writeLine(const std::string &json);

private:
  void dropLinesAfter(int64_t lastStep);
  void dropEnd(int64_t bytes);
  void put(const std::string &all);

  std::string path;
  std::string line; ///< of a step, whose memory is kept
  int descriptor = -1;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_METRICS_H
