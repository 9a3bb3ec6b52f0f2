// The metrics of an evaluation.
#ifndef MTC_RUNTIME_LOOP_EVALUATION_METRICS_H
#define MTC_RUNTIME_LOOP_EVALUATION_METRICS_H

#include "runtime/abi/program.h"
#include "runtime/loop/calibration.h"
#include "runtime/loop/ranking.h"
#include "runtime/support/confusion_matrix.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// A value per sample (MtcRowValue), accumulated over samples.
struct RowTotal {
  double sum = 0, squares = 0;
  int64_t rows = 0;

  void add(double value) {
    sum += value;
    squares += value * value;
    ++rows;
  }
  RowTotal &operator+=(const RowTotal &other);
};

/// Numbers of targets for one class: the true positives, all targets that are predicted as the
/// class, and all targets that are labelled as the class.
struct ClassCounts {
  int64_t hits = 0, predicted = 0, labelled = 0;

  ClassCounts &operator+=(const ClassCounts &other);
};

/// Totals that the runtime computes from sequences of labels: edit distances, and labels.
inline constexpr char sequenceErrors[] = "sequence_errors", sequenceLabels[] = "sequence_labels";

/// The accumulated values of an evaluation. A program without row metrics only has the sum of the
/// losses of whole batches, and their number as the weight.
class MetricSums {
public:
  /// Returns the total of a value of runtime/abi/row_values.h.
  RowTotal &total(std::string_view name) { return totals[std::string(name)]; }
  /// Returns a total as of now; zeros if the name has none.
  RowTotal totalOf(std::string_view name) const;
  double sum(std::string_view name) const;
  double squares(std::string_view name) const;
  int64_t rows(std::string_view name) const;
  /// Returns the number of targets that are not ignored.
  double targets() const;

  MetricSums &operator+=(const MetricSums &other);

  /// Counts a target, also in the confusion matrix. A class below 0 is none.
  void addTarget(int64_t predicted, int64_t labelled);
  const std::vector<ClassCounts> &getClasses() const { return classes; }

  /// Adds the values of targets of other sums, except the totals.
  void addTargets(const MetricSums &other);
  /// Returns these values as a list of numbers, and adds those of a list, which may be longer.
  std::vector<int64_t> targetList() const;
  void addTargetList(std::span<const int64_t> list);

  ConfusionMatrix confusion;
  Calibration calibration;
  Ranking ranking;

private:
  std::map<std::string, RowTotal> totals;
  std::vector<ClassCounts> classes; ///< by class
};

/// A line of the report of `--evaluate`.
enum class MetricGroup { Main, Confusion };

/// A metric. A new one is an entry of `metrics` in evaluation_metrics.cpp; if it requires another
/// value per sample, a loss of the compiler also produces that value.
struct MetricKind {
  const char *name; ///< as in reports and flags: "accuracy"
  bool isHigherBetter;
  MetricGroup group;
  /// The values per sample from which the metric is computed; unused entries are null.
  std::array<const char *, 4> needs;
  double (*value)(const MetricSums &sums);

  bool isComputed(const MtcProgram &program) const;
};

/// Returns all metrics. The first is the loss, which every program computes.
std::span<const MetricKind> allMetrics();

/// Returns the metric of this name that the program computes, or null.
const MetricKind *findMetric(const MtcProgram &program, std::string_view name);

/// Returns the names of the metrics that the program computes: "loss, accuracy".
std::string metricNames(const MtcProgram &program);

/// Returns whether the values of samples are added.
bool isTotal(const MtcRowValue &value);

/// Returns the value per sample of this name, or null if the program does not compute it.
const MtcRowValue *findRowValue(const MtcProgram &program, std::string_view name);

/// Returns whether the program computes the loss of each sample, so that an evaluation can include
/// an incomplete batch.
bool hasRowLoss(const MtcProgram &program);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_EVALUATION_METRICS_H
