// The names of the metrics, which are the same in all files.
#ifndef MTC_RUNTIME_REPORTS_METRIC_FIELDS_H
#define MTC_RUNTIME_REPORTS_METRIC_FIELDS_H

#include "runtime/reports/run_listener.h"

namespace mtc::runtime {

/// Calls `use(NAME, VALUE)` for each metric that a step has.
template <typename Use>
void forEachField(const StepMetrics &metrics, const RunFacts &facts, const Use &use) {
  use("loss", metrics.loss);
  use("lr", metrics.learningRate);
  if (metrics.gradientNorm)
    use("grad_norm", *metrics.gradientNorm);
  if (metrics.lossScale) {
    use("loss_scale", *metrics.lossScale);
    use("skipped", metrics.skipped);
  }
  use("step_seconds", metrics.seconds);
  if (const std::optional<double> rate = facts.samplesPerSecond(metrics))
    use("samples_per_second", *rate);
  if (const std::optional<double> rate = facts.tokensPerSecond(metrics))
    use("tokens_per_second", *rate);
}

/// Calls `use(NAME, VALUE)` for each metric that a validation has. An integer or a condition is
/// passed as such.
template <typename Use> void forEachField(const ValidationMetrics &metrics, const Use &use) {
  use("loss", metrics.loss);
  for (const auto &[name, value] : metrics.metrics)
    use(name, value);
  use("samples", metrics.samples);
  use("seconds", metrics.seconds);
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_METRIC_FIELDS_H
