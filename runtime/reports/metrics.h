// --metrics: one JSON object per line, written as soon as its step or validation is complete.
#ifndef MTC_RUNTIME_REPORTS_METRICS_H
#define MTC_RUNTIME_REPORTS_METRICS_H

#include "runtime/reports/run_listener.h"

#include <cstdint>
#include <string>

namespace mtc::runtime {

/// Writes steps and validations, each as one line of JSON.
class MetricsFile final : public RunListener {
public:
  /// Creates the file, or, in a resumed run, continues it after `lastStep` steps and removes the
  /// lines of later steps.
  MetricsFile(std::string path, int64_t lastStep);
  ~MetricsFile() override;
  MetricsFile(const MetricsFile &) = delete;
  MetricsFile &operator=(const MetricsFile &) = delete;

  void begin(const RunFacts &facts) override;
  void step(const StepMetrics &metrics) override;
  void validation(const ValidationMetrics &metrics) override;
  /// Writes one line of JSON. Throws a system error if it cannot be written completely; the file
  /// then contains no part of the line.
  void writeLine(const std::string &json);

private:
  void dropLinesAfter(int64_t lastStep);
  void dropEnd(int64_t bytes);
  void put(const std::string &all);

  std::string path;
  RunFacts facts;
  std::string line; ///< line buffer, reused for each step
  int descriptor = -1;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_METRICS_H
