// What a training run shows: a bar on a terminal, lines of losses elsewhere.
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

  /// Up to 1000 steps are all shown as lines; of more, about 1000, and the last.
  void show(const StepMetrics &metrics);
  /// Ends the bar's line, so that messages start on one of their own.
  void breakLine();

private:
  void printMore(const StepMetrics &metrics) const;

  int64_t total, every, skipped = 0;
  bool quiet, terminal, lineOpen = false;
  std::chrono::steady_clock::time_point lastDrawn{};
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_PROGRESS_H
