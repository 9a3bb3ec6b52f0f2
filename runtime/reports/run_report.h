// --report: a page that shows a run.
#ifndef MTC_RUNTIME_REPORTS_RUN_REPORT_H
#define MTC_RUNTIME_REPORTS_RUN_REPORT_H

#include "runtime/abi/program.h"
#include "runtime/reports/run_record.h"

#include <chrono>
#include <string>

namespace mtc::runtime {

/// Writes the page when the run begins and ends, and in between at intervals that grow from two to
/// thirty seconds. The time spent on writing is at most one hundredth of the run's. Each version
/// replaces the previous one as a whole. A resumed run continues the charts of the page that it
/// replaces.
class RunReport final : public RunListener {
public:
  RunReport(const MtcProgram &program, std::string path);

  void begin(const RunFacts &facts) override;
  void step(const StepMetrics &metrics) override;
  void validation(const ValidationMetrics &metrics) override;
  void end(const RunEnding &ending) override;

private:
  using Clock = std::chrono::steady_clock;

  void writeIfDue();
  void write();

  const MtcProgram &program;
  std::string path;
  RunRecord record;
  Clock::time_point start{}, nextWrite{};
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_RUN_REPORT_H
