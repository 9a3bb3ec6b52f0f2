// Progress of a training run: a progress bar, or lines of losses.
#ifndef MTC_RUNTIME_REPORTS_PROGRESS_H
#define MTC_RUNTIME_REPORTS_PROGRESS_H

#include "runtime/reports/run_listener.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mtc::runtime {

/// Shows the text of a progress.
class ProgressOutput {
public:
  virtual ~ProgressOutput() = default;
  /// Returns the maximum number of columns of the bar at the moment; 0 if the output cannot replace
  /// a line, so that there is no bar.
  virtual int columns() const = 0;
  /// Shows the bar in place of the one that was drawn before.
  virtual void draw(const std::string &bar) = 0;
  /// Shows a line that remains.
  virtual void print(const std::string &line) = 0;
  /// Keeps the bar that was drawn last.
  virtual void keep() = 0;
};

/// Shows a bar, redrawn at most ten times a second, and a line for each validation. An output
/// without a bar receives a line for each validation and each step; for about 1000 steps and the
/// last one if there are more.
class Progress final : public RunListener {
public:
  explicit Progress(std::unique_ptr<ProgressOutput> output);

  void begin(const RunFacts &facts) override;
  void step(const StepMetrics &metrics) override;
  void validation(const ValidationMetrics &metrics) override;
  void end(const RunEnding &ending) override;

private:
  using Clock = std::chrono::steady_clock;

  void printStep(const StepMetrics &metrics);
  void draw();
  double secondsLeft(double elapsed) const;

  std::unique_ptr<ProgressOutput> output;
  RunFacts facts;
  int64_t every = 1, skipped = 0;
  Clock::time_point start, lastDrawn;
  double measured = 0;      ///< sum of the durations of all steps
  double smoothSeconds = 0; ///< duration of a step, averaged over about the last five seconds
  std::optional<StepMetrics> last;
  std::optional<ValidationMetrics> lastValidation;
  bool hasEnded = false;
  std::string line; ///< of a step
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_PROGRESS_H
