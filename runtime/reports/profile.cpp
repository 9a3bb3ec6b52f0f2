// Times of the current step and of the fastest one so far.
#include "runtime/reports/profile.h"

#include <algorithm>
#include <utility>

namespace mtc::runtime {

static double secondsBetween(Observer::Clock::time_point begin, Observer::Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

void Profile::operation(const OperationInfo &operation, Clock::time_point begin,
                        Clock::time_point end) {
  auto &list = current.operations;
  if (operation.number >= list.size())
    list.resize(operation.number + 1);
  Times &times = list[operation.number];
  times = {&operation, times.seconds + secondsBetween(begin, end), times.runs + 1};
  recent.push_back(operation.number);
}

void Profile::phase(Phase phase, int64_t step, Clock::time_point begin, Clock::time_point end) {
  const std::vector<size_t> operations = std::exchange(recent, {});
  if (phase == Phase::Save || phase == Phase::LoadValidation)
    return;
  if (phase == Phase::Validate) { // Steps do not run these operations.
    for (const size_t number : operations)
      current.operations[number] = Times();
    return;
  }
  const double seconds = secondsBetween(begin, end);
  if (step != std::exchange(currentNumber, step))
    finish();
  if (phase == Phase::Load)
    current.loadSeconds += seconds;
  if (phase == Phase::Wait)
    current.waitSeconds += seconds;
  current.seconds += seconds;
}

void Profile::finish() {
  if (current.seconds == 0)
    return;
  ++stepCount;
  sum += current.seconds;
  if (stepCount == 1 || current.seconds < best.seconds)
    std::swap(current, best);
  current.seconds = current.loadSeconds = current.waitSeconds = 0;
  std::fill(current.operations.begin(), current.operations.end(), Times());
}

} // namespace mtc::runtime
