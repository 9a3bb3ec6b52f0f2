//===- QueryProgress.h - Progress and deadline of a query -------------------------------------===//

#ifndef MTC_PASSES_PLANNING_QUERYPROGRESS_H
#define MTC_PASSES_PLANNING_QUERYPROGRESS_H

#include "passes/search/FunctionBudget.h"

#include <atomic>
#include <functional>

namespace mtc {

/// Called with the number of finished and of all known parts of a query.
using PlanProgress = std::function<void(size_t done, size_t all)>;

/// The progress of a query, and the time that it has left.
class QueryProgress {
public:
  /// `maxSeconds` limits each query.
  QueryProgress(std::optional<double> maxSeconds, PlanProgress report)
      : maxSeconds(maxSeconds), report(std::move(report)) {}

  /// Begins a query of `count` parts.
  void start(size_t count) {
    done = 0;
    parts = count;
    deadline = deadlineIn(maxSeconds);
    if (report)
      report(done, parts);
  }
  void finishPart() {
    const size_t finished = ++done;
    if (report)
      report(std::min(finished, parts), parts);
  }

  bool isTimeUp() const { return std::chrono::steady_clock::now() > deadline; }
  /// Returns the seconds until the deadline, or nothing if there is none.
  std::optional<double> getSecondsLeft() const {
    if (!maxSeconds)
      return std::nullopt;
    const std::chrono::duration<double> left = deadline - std::chrono::steady_clock::now();
    return std::max(left.count(), 0.0);
  }
  /// Returns the seconds for the first plan of a query, which has some time whenever it begins.
  std::optional<double> getSecondsOfFirst() const {
    constexpr double minPart = 0.2;
    std::optional<double> left = getSecondsLeft();
    return left ? std::optional(std::max(*left, minPart * *maxSeconds)) : std::nullopt;
  }

private:
  std::optional<double> maxSeconds;
  PlanProgress report;
  std::atomic<size_t> done = 0;
  size_t parts = 0;
  Deadline deadline;
};

} // namespace mtc

#endif // MTC_PASSES_PLANNING_QUERYPROGRESS_H
