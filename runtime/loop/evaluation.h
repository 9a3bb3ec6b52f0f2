// Evaluation of a data set in inference mode, for --evaluate and for validation.
#ifndef MTC_RUNTIME_LOOP_EVALUATION_H
#define MTC_RUNTIME_LOOP_EVALUATION_H

#include "runtime/loop/evaluation_metrics.h"
#include "runtime/loop/evaluation_sums.h"
#include "runtime/loop/forward.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mtc::runtime {

/// The result of an evaluation.
struct Evaluation {
  double loss = 0;
  int64_t samples = 0; ///< evaluated samples
  /// The program's metrics other than the loss, by name, in the order of `allMetrics`.
  std::vector<std::pair<std::string, double>> metrics;
  ConfusionMatrix confusion; ///< on rank 0 only; empty if the loss has no classes
  /// One-line warnings about the data, such as samples that were left out; on rank 0 only.
  std::vector<std::string> warnings;
};

/// Returns the sums over the first `valid` samples of the batch of `batch` samples that the device
/// has evaluated.
MetricSums sumsOfBatch(const StepScalars &scalars, int64_t valid, int64_t batch);

/// Throws a user error that begins with `flag` if the program can only evaluate whole batches and
/// the data does not fill one.
void checkEvaluates(const MtcProgram &program, const Dataset &data, const std::string &flag);

/// Evaluates all samples of `data`, each once; if only whole batches can be evaluated, those that
/// fill a batch. The batches are divided among the ranks, which must all call it; the result is
/// bit-identical to one process. Changes no variable of the program. `step` and `seed` are the
/// values of the program's scalars. Returns nullopt if a signal (StopSignal) arrives on any rank
/// before the end.
std::optional<Evaluation> evaluateData(const Session &session, Dataset &data, EvaluationSums &sums,
                                       int64_t step, uint64_t seed,
                                       ForwardPhases phases = evaluationPhases);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_EVALUATION_H
