// The metrics of all steps of a run in bounded memory.
#ifndef MTC_RUNTIME_REPORTS_STEP_HISTORY_H
#define MTC_RUNTIME_REPORTS_STEP_HISTORY_H

#include "runtime/reports/run_listener.h"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// Mean, minimum and maximum of the finite values that were added.
struct ValueRange {
  double sum = 0, minimum = 0, maximum = 0;
  int64_t count = 0;

  void add(double value);
  void add(const ValueRange &other);
  double mean() const { return sum / static_cast<double>(count); }
  bool isEmpty() const { return count == 0; }
};

/// The metrics of consecutive steps.
struct StepRange {
  enum Field : size_t { Loss, LearningRate, GradientNorm, LossScale, Seconds, FieldCount };
  /// The names of the fields in the lines of --metrics.
  static constexpr std::array<std::string_view, FieldCount> names = {"loss", "lr", "grad_norm",
                                                                     "loss_scale", "step_seconds"};

  int64_t first = 0, last = 0;
  int64_t skipped = 0, notFinite = 0; ///< numbers of steps
  std::array<ValueRange, FieldCount> fields = {};

  void add(const StepRange &next);
};

/// Keeps at most `capacity` ranges of steps, all of the same length except the last one. When there
/// are more, neighbors are joined, so that no minimum or maximum is lost.
class StepHistory {
public:
  static constexpr size_t capacity = 1024;

  void add(const StepMetrics &metrics);
  const std::vector<StepRange> &ranges() const { return all; }
  /// Returns the same steps in at most `count` ranges of equal length, except the last one.
  std::vector<StepRange> inRanges(size_t count) const;

  /// Columns: `first`, `last`, and for each field that a step has, arrays of `mean`, `minimum`,
  /// `maximum`; null if no value is finite.
  nlohmann::ordered_json toJson() const;
  /// Reads the ranges up to step `lastStep`. Returns false, and leaves the history empty, if `json`
  /// is not the output of `toJson`.
  bool read(const nlohmann::json &json, int64_t lastStep);

private:
  void halve();

  std::vector<StepRange> all;
  int64_t length = 1; ///< steps of a range
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_STEP_HISTORY_H
