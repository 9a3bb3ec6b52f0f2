// The tables of a run's report.
#ifndef MTC_RUNTIME_REPORTS_REPORT_TABLES_H
#define MTC_RUNTIME_REPORTS_REPORT_TABLES_H

#include "runtime/abi/program.h"
#include "runtime/reports/run_record.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The metrics of all steps of a run, as a series and as one range.
struct StepSummary {
  explicit StepSummary(const RunRecord &record);

  /// Returns 0 for a duration that is not known.
  double samplesPerSecond(double seconds) const;
  /// Returns the mean duration of a step in seconds; 0 if it is not known.
  double meanSeconds() const;

  std::vector<StepRange> ranges; ///< at most 50
  StepRange all;
  int64_t samplesPerStep;
};

/// Returns the last value, the mean and the extremes of each metric.
std::string metricsTable(const RunRecord &record, const StepSummary &summary);
/// Returns the means of the metrics for each range of steps.
std::string stepsTable(const StepSummary &summary);
/// Returns a section with at most 100 validations; "" if there was none.
std::string validationsSection(const RunRecord &record);
/// Returns the planned memory by category, and the measured peak of the process.
std::string memoryTable(const MtcProgram &program, const RunRecord &record);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_REPORT_TABLES_H
