// The data that the report of a run shows.
#ifndef MTC_RUNTIME_REPORTS_RUN_RECORD_H
#define MTC_RUNTIME_REPORTS_RUN_RECORD_H

#include "runtime/abi/program.h"
#include "runtime/reports/run_listener.h"
#include "runtime/reports/step_history.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mtc::runtime {

/// One execution of the program: a run consists of several if it was resumed. Times are seconds
/// since 1970.
struct Execution {
  double start = 0, end = 0;
  int64_t firstStep = 0; ///< number of steps that were done before
  int64_t lastStep = 0;
};

struct RunRecord {
  RunFacts facts = {};
  std::string fingerprint = {}; ///< of the program; records of equal fingerprints can be continued
  std::vector<Execution> executions = {};
  StepHistory steps = {};
  StepMetrics lastStep = {};
  std::vector<ValidationMetrics> validations = {}; ///< bounded: see `addValidation`
  bool isRunning = true;
  RunEnding ending = {};
  int64_t processPeakBytes = 0;

  /// Adds a validation. If there are more than `validationCapacity`, every second one is dropped,
  /// but never the best or the last one. Only these two keep their confusion matrix.
  void addValidation(const ValidationMetrics &metrics);
  static constexpr size_t validationCapacity = 2000;

  /// Returns the last validation that was the best of its time; null if there is none.
  const ValidationMetrics *bestValidation() const;
  /// Returns the sum of the durations of all executions.
  double seconds() const;

  nlohmann::ordered_json toJson() const;
  /// Adds the data that a record of an earlier execution has before the first step of this one.
  /// Returns false if `json` is not a record of a program with the same fingerprint.
  bool continueFrom(const nlohmann::json &json);
};

/// Returns "running", "completed", "stopped" or "failed".
const char *stateName(const RunRecord &record);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_REPORTS_RUN_RECORD_H
