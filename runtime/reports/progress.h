// Progress of a training run: a progress bar on a terminal, lines of losses otherwise.
#ifndef MTC_RUNTIME_REPORTS_PROGRESS_H
#define MTC_RUNTIME_REPORTS_PROGRESS_H

#include "runtime/reports/metrics.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace mtc::runtime {

class Progress {
public:
  Progress(int64_t total, bool quiet);
  ~Progress();

  /// Shows a step. Prints a line for each step if there are at most 1000, otherwise for about 1000
  /// steps and the last one.
  void show(const StepMetrics &metrics);
  /// Ends the line of the progress bar before other output.
  void breakLine();

private:
  void printMore(const StepMetrics &metrics) const;

  int64_t total, every, skipped = 0;
  bool quiet, terminal, lineOpen = false;
  std::chrono::steady_clock::time_point lastDrawn{};
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_PROGRESS_H
