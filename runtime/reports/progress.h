// Progress of a training run: a progress bar on a terminal, lines of losses otherwise.
#ifndef MTC_RUNTIME_REPORTS_PROGRESS_H
#define MTC_RUNTIME_REPORTS_PROGRESS_H

#include "runtime/reports/run_listener.h"
#include "support/terminal/status_line.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace mtc::runtime {

/// Prints to standard output. A terminal shows the bar, redrawn at most ten times a second, and a
/// line for each validation. A file or pipe receives a line for each validation and each step; for
/// about 1000 steps and the last one if there are more.
class Progress final : public RunListener {
public:
  Progress();

  void begin(const RunFacts &facts) override;
  void step(const StepMetrics &metrics) override;
  void validation(const ValidationMetrics &metrics) override;
  void end(const RunEnding &ending) override;

private:
  using Clock = std::chrono::steady_clock;

  void printStep(const StepMetrics &metrics) const;
  void draw();
  double secondsLeft(double elapsed) const;

  terminal::StatusLine line;
  RunFacts facts;
  int64_t every = 1, skipped = 0;
  Clock::time_point start, lastDrawn;
  double measured = 0;      ///< sum of the durations of all steps
  double smoothSeconds = 0; ///< duration of a step, averaged over about the last five seconds
  std::optional<StepMetrics> last;
  std::optional<ValidationMetrics> lastValidation;
  bool hasEnded = false;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_PROGRESS_H
