// The table of metrics.
#include "runtime/loop/evaluation_metrics.h"

namespace mtc::runtime {

static constexpr MetricKind metrics[] = {
    {"loss", /*isHigherBetter=*/false, [](const MtcProgram &) { return true; },
     [](const MetricSums &sums) { return sums.loss / sums.weight; }},
    {"accuracy", /*isHigherBetter=*/true,
     [](const MtcProgram &program) {
       return hasRowLoss(program) && program.row_metrics.row_correct >= 0;
     },
     [](const MetricSums &sums) { return sums.correct / sums.weight; }},
};

std::span<const MetricKind> allMetrics() { return metrics; }

const MetricKind *findMetric(const MtcProgram &program, std::string_view name) {
  for (const MetricKind &metric : metrics)
    if (metric.name == name && metric.isComputed(program))
      return &metric;
  return nullptr;
}

std::string metricNames(const MtcProgram &program) {
  std::string names;
  for (const MetricKind &metric : metrics)
    if (metric.isComputed(program))
      names += (names.empty() ? "" : ", ") + std::string(metric.name);
  return names;
}

} // namespace mtc::runtime
