// --metrics: one JSON object per line, written as soon as its step or validation is complete.
#ifndef MTC_RUNTIME_REPORTS_METRICS_H
#define MTC_RUNTIME_REPORTS_METRICS_H

#include "runtime/io/appended_file.h"
#include "runtime/reports/run_listener.h"

#include <cstdint>
#include <string>

namespace mtc::runtime {

/// Writes steps and validations, each as one line of JSON.
class MetricsFile final : public RunListener {
public:
  /// Creates the file, or, in a resumed run, continues it after `lastStep` steps and removes the
  /// lines of later steps.
  MetricsFile(const std::string &path, int64_t lastStep);

  void begin(const RunFacts &facts) override;
  void step(const StepMetrics &metrics) override;
  void validation(const ValidationMetrics &metrics) override;
  /// Writes one line of JSON. Throws a system error if it cannot be written completely; the file
  /// then contains no part of the line.
  void writeLine(const std::string &json);

private:
  void endLine();

  void dropLinesAfter(const std::string &path, int64_t lastStep);

  AppendedFile file;
  RunFacts facts;
  std::string line; ///< line buffer, reused for each step
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_METRICS_H
