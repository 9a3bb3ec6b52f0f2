// Sums over batches. The last batch is padded with its last sample, which is then not counted.
#include "runtime/loop/evaluation.h"

#include "runtime/loop/evaluation_metrics.h"
#include "runtime/loop/stop_signal.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <cmath>

namespace mtc::runtime {
namespace {

/// Returns the sum of a row metric over the first `valid` samples or entries of the batch.
double sumOfRows(const StepScalars &scalars, int64_t offset, int64_t valid, int64_t batch) {
  double sum = 0;
  const int64_t count = valid * scalars.program.row_metrics.rows / batch;
  scalars.device.read(offset, count * static_cast<int64_t>(sizeof(float)),
                      [&](const char *from, int64_t, int64_t bytes) {
                        auto *values = reinterpret_cast<const float *>(from);
                        for (size_t i = 0; i < static_cast<size_t>(bytes) / sizeof(float); ++i)
                          sum += static_cast<double>(values[i]);
                      });
  return sum;
}

/// Returns the number of samples that can be evaluated.
int64_t countedSamples(const MtcProgram &program, const Dataset &data) {
  return hasRowLoss(program) ? data.rows() : data.rows() / data.batch() * data.batch();
}

} // namespace

MetricSums sumsOfBatch(const StepScalars &scalars, int64_t valid, int64_t batch) {
  const MtcProgram &program = scalars.program;
  MetricSums sums;
  if (!hasRowLoss(program)) {
    sums.loss = scalars.loss(scalars.requestLoss(program.evaluate_loss));
    sums.weight = 1;
    return sums;
  }
  for (const RowSum &each : rowSums)
    if (const int64_t offset = program.row_metrics.*each.offset; offset >= 0)
      sums.*each.sum = sumOfRows(scalars, offset, valid, batch);
  return sums;
}

void checkEvaluates(const MtcProgram &program, const Dataset &data, const std::string &flag) {
  if (countedSamples(program, data) == 0)
    userError(flag, ": the loss of this program is known for whole batches only; ", data.batch(),
              " samples are needed, the data has ", data.rows());
}

std::optional<Evaluation> evaluateData(const Session &session, Dataset &data, int64_t step,
                                       uint64_t seed, ForwardPhases phases) {
  const MtcProgram &program = session.program;
  const int64_t batch = data.batch(), counted = countedSamples(program, data);
  MetricSums total;
  int64_t firstNotFinite = -1; // first sample of the first batch whose loss is not finite
  session.scalars().set(step, /*microStep=*/0, /*learningRate=*/0, seed);
  for (int64_t first = 0; first < counted; first += batch) {
    const int64_t valid = runForward(session, data, first, counted, &Device::evaluate, phases);
    const MetricSums added = sumsOfBatch(session.scalars(), valid, batch);
    if (StopSignal::received())
      return std::nullopt;
    total += added;
    if (!std::isfinite(added.loss) && firstNotFinite < 0)
      firstNotFinite = first;
  }
  Evaluation result;
  result.samples = counted;
  for (const MetricKind &metric : allMetrics()) {
    if (!metric.isComputed(program))
      continue;
    const double value = withoutSignOfNan(metric.value(total));
    if (&metric == &allMetrics().front())
      result.loss = value;
    else
      result.metrics.emplace_back(metric.name, value);
  }
  if (total.weight == 0)
    result.warnings.emplace_back("every label is one to be ignored, so there is no loss");
  if (firstNotFinite >= 0)
    result.warnings.push_back(text("the loss is not finite: samples ", firstNotFinite, " to ",
                                   std::min(firstNotFinite + batch, counted) - 1,
                                   " (from 0) are the first batch whose loss is not finite"));
  if (counted < data.rows())
    result.warnings.push_back(text("the last ", data.rows() - counted,
                                   " samples do not fill a batch of ", batch, " and were skipped"));
  return result;
}

} // namespace mtc::runtime
