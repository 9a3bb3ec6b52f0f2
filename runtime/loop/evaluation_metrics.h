// The metrics of an evaluation.
#ifndef MTC_RUNTIME_LOOP_EVALUATION_METRICS_H
#define MTC_RUNTIME_LOOP_EVALUATION_METRICS_H

#include "runtime/abi/program.h"

#include <span>
#include <string>
#include <string_view>

namespace mtc::runtime {

/// Sums over the samples of an evaluation. A program without row metrics only has the sum of the
/// losses of whole batches, and their number as the weight.
struct MetricSums {
  double loss = 0;    ///< loss of all targets
  double weight = 0;  ///< number of valid targets
  double correct = 0; ///< number of correctly classified targets
};

/// A row metric that `evaluate` of a program computes, and the sum of its elements.
struct RowSum {
  int64_t MtcRowMetrics::*offset; ///< of f32 [rows]; negative if the program does not compute it
  double MetricSums::*sum;
};
inline constexpr RowSum rowSums[] = {{&MtcRowMetrics::row_loss, &MetricSums::loss},
                                     {&MtcRowMetrics::row_weight, &MetricSums::weight},
                                     {&MtcRowMetrics::row_correct, &MetricSums::correct}};

inline MetricSums &operator+=(MetricSums &total, const MetricSums &added) {
  for (const RowSum &each : rowSums)
    total.*each.sum += added.*each.sum;
  return total;
}

/// A metric. A new one is an entry of `metrics` in evaluation_metrics.cpp; if it requires another
/// sum, also a member of MetricSums and an entry of `rowSums`.
struct MetricKind {
  const char *name; ///< as in reports and flags: "accuracy"
  bool isHigherBetter;
  bool (*isComputed)(const MtcProgram &program);
  double (*value)(const MetricSums &sums);
};

/// Returns all metrics. The first is the loss, which every program computes.
std::span<const MetricKind> allMetrics();

/// Returns the metric of this name that the program computes, or null.
const MetricKind *findMetric(const MtcProgram &program, std::string_view name);

/// Returns the names of the metrics that the program computes: "loss, accuracy".
std::string metricNames(const MtcProgram &program);

/// Returns whether the program computes the loss of each sample, so that an evaluation can include
/// an incomplete batch.
inline bool hasRowLoss(const MtcProgram &program) {
  return program.row_metrics.row_loss >= 0 && program.row_metrics.row_weight >= 0;
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_EVALUATION_METRICS_H
