// A failure of one listener does not affect the others, which are still notified.
#include "runtime/reports/run_listener.h"

namespace mtc::runtime {

template <typename Call> void RunListeners::notify(Problems &problems, const Call &call) {
  for (Entry &entry : listeners) {
    if (entry.hasFailed)
      continue;
    entry.hasFailed = true;
    problems.attempt([&] {
      call(*entry.listener);
      entry.hasFailed = false;
    });
  }
}

void RunListeners::begin(const RunFacts &facts, Problems &problems) {
  notify(problems, [&](RunListener &listener) { listener.begin(facts); });
}

void RunListeners::step(const StepMetrics &metrics, Problems &problems) {
  notify(problems, [&](RunListener &listener) { listener.step(metrics); });
}

void RunListeners::validation(const ValidationMetrics &metrics, Problems &problems) {
  notify(problems, [&](RunListener &listener) { listener.validation(metrics); });
}

void RunListeners::end(const RunEnding &ending, Problems &problems) {
  notify(problems, [&](RunListener &listener) { listener.end(ending); });
}

} // namespace mtc::runtime
