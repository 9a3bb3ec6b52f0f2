// Sums over batches. The last batch is padded with its last sample, which is then not counted.
#include "runtime/loop/evaluation.h"

#include "runtime/abi/row_values.h"
#include "runtime/loop/evaluation_metrics.h"
#include "runtime/loop/target_values.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mtc::runtime {
namespace {

/// Returns the number of samples that can be evaluated.
int64_t countedSamples(const MtcProgram &program, const Dataset &data) {
  return hasRowLoss(program) ? data.rows() : data.rows() / data.batch() * data.batch();
}

} // namespace

MetricSums sumsOfBatch(const StepScalars &scalars, int64_t valid, int64_t batch) {
  const MtcProgram &program = scalars.program;
  MetricSums sums;
  if (!hasRowLoss(program)) {
    sums.total(abi::rowLoss).add(scalars.loss(scalars.requestLoss(program.evaluate_loss)));
    sums.total(abi::rowWeight).add(1);
    return sums;
  }
  const int64_t rows = valid * program.row_metrics.rows / batch;
  for (uint32_t i = 0; i < program.row_metrics.value_count; ++i) {
    const MtcRowValue &value = program.row_metrics.values[i];
    if (!isTotal(value))
      continue;
    RowTotal &total = sums.total(value.name);
    forEachFloat(scalars, value, rows, [&](float each) { total.add(static_cast<double>(each)); });
  }
  addTargets(scalars, rows, sums);
  return sums;
}

void checkEvaluates(const MtcProgram &program, const Dataset &data, const std::string &flag) {
  if (countedSamples(program, data) == 0)
    userError(flag, ": the loss of this program is known for whole batches only; ", data.batch(),
              " samples are needed, the data has ", data.rows());
}

/// Returns the confusion matrix with all classes of the loss, also those that do not occur. That of
/// two classes follows from the numbers of positives.
static ConfusionMatrix confusionOf(const MtcProgram &program, const MetricSums &sums) {
  ConfusionMatrix confusion = sums.confusion;
  if (findRowValue(program, abi::rowPositives.hits)) {
    auto count = [&](const char *name) { return std::llround(sums.sum(name)); };
    const int64_t hits = count(abi::rowPositives.hits),
                  predicted = count(abi::rowPositives.predicted),
                  labelled = count(abi::rowPositives.labelled);
    confusion.add(1, 1, hits);
    confusion.add(0, 1, predicted - hits);
    confusion.add(1, 0, labelled - hits);
    confusion.add(0, 0, std::llround(sums.targets()) - predicted - labelled + hits);
  }
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (const MtcInput &input = program.inputs[i];
        input.is_label && confusion.classes() && input.limit <= ConfusionMatrix::maxClasses)
      confusion.growTo(input.limit);
  return confusion;
}

/// Returns a number that rank 0 has computed.
static double fromLeader(Ranks &ranks, double value) {
  return std::bit_cast<double>(
      ranks.fromLeader(std::bit_cast<int64_t>(value), "results of the evaluation"));
}

/// Computes the metrics on rank 0 and sends them to all ranks, because each rank uses them to
/// decide whether training continues.
static void addMetrics(const Session &session, const MetricSums &total, Evaluation &result) {
  for (const MetricKind &metric : allMetrics()) {
    if (!metric.isComputed(session.program))
      continue;
    const double value =
        fromLeader(session.ranks, session.ranks.isLeader() ? metric.value(total) : 0);
    if (&metric == &allMetrics().front())
      result.loss = withoutSignOfNan(value);
    else
      result.metrics.emplace_back(metric.name, withoutSignOfNan(value));
  }
}

std::optional<Evaluation> evaluateData(const Session &session, Dataset &data, EvaluationSums &sums,
                                       int64_t step, uint64_t seed, ForwardPhases phases) {
  const int64_t counted = countedSamples(session.program, data);
  const ForwardBatches batches(data.batch(), counted, session.ranks, data.shapesOfRows(),
                               /*isWhole=*/!hasRowLoss(session.program));
  std::optional<int64_t> firstNotFinite; // first batch whose loss is not finite
  session.scalars().set(step, /*microStep=*/0, /*learningRate=*/0, seed);
  auto move = [&](int rank, int64_t number, const MtcProgram &shaped) {
    MetricSums own;
    if (rank == session.ranks.rank())
      own = sumsOfBatch({shaped, session.device}, batches.samplesOf(number),
                        data.batchOf(shaped.batch));
    const MetricSums added = sums.add(rank, own);
    if (!std::isfinite(added.sum(abi::rowLoss)) && !firstNotFinite)
      firstNotFinite = number;
  };
  if (!runForward(session, data, batches, evaluationPass, move, phases))
    return std::nullopt;
  const MetricSums total = sums.finish();
  Evaluation result;
  result.samples = counted;
  addMetrics(session, total, result);
  if (!session.ranks.isLeader())
    return result;
  result.confusion = confusionOf(session.program, total);
  if (total.sum(abi::rowWeight) == 0)
    result.warnings.emplace_back("every label is one to be ignored, so there is no loss");
  if (firstNotFinite)
    result.warnings.push_back(
        text("the loss is not finite: samples ", batches.firstOf(*firstNotFinite), " to ",
             batches.firstOf(*firstNotFinite) + batches.samplesOf(*firstNotFinite) - 1,
             " (from 0) are the first batch whose loss is not finite"));
  if (counted < data.rows())
    result.warnings.push_back(text("the last ", data.rows() - counted,
                                   " samples do not fill a batch of ", data.batch(),
                                   " and were skipped"));
  return result;
}

} // namespace mtc::runtime
