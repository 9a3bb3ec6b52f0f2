// Forward runs over a whole file. The last batch is padded with its last sample, which is then not
// counted.
#include "runtime/loop/evaluate.h"

#include "runtime/io/safetensors.h"
#include "runtime/loop/stop_signal.h"
#include "runtime/reports/metrics.h"
#include "runtime/reports/standard_output.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace mtc::runtime {
namespace {

/// Returns the samples [first, first + batch), with indices clamped to those before `end`. Empty if
/// `first` is not before `end`.
Batch rowsFrom(int64_t first, int64_t batch, int64_t end) {
  Batch result;
  for (int64_t i = 0; first < end && i < batch; ++i)
    result.rows.push_back(std::min(first + i, end - 1));
  return result;
}

/// Loads the batch of samples from `first` on, limited to those before `end`, and runs `function`.
/// Returns the number of samples without padding.
int64_t runBatch(const Session &session, int64_t first, int64_t end, void (Device::*function)()) {
  const int64_t batch = session.data.batch(), step = first / batch + 1;
  session.run(Phase::Load, step, [&] {
    session.batches.load(rowsFrom(first, batch, end), rowsFrom(first + batch, batch, end));
  });
  session.run(Phase::Evaluate, step, [&] { (session.device.*function)(); });
  return std::min(batch, end - first);
}

/// Returns the sum of a row metric over the first `valid` samples or entries of the batch.
double sumOfRows(const Session &session, int64_t offset, int64_t valid) {
  double sum = 0;
  const int64_t count = valid * session.program.row_metrics.rows / session.data.batch();
  session.device.read(offset, count * static_cast<int64_t>(sizeof(float)),
                      [&](const char *from, int64_t, int64_t bytes) {
                        auto *values = reinterpret_cast<const float *>(from);
                        for (size_t i = 0; i < static_cast<size_t>(bytes) / sizeof(float); ++i)
                          sum += static_cast<double>(values[i]);
                      });
  return sum;
}

/// Returns whether an output has one row per sample.
bool hasRows(const Session &session, const MtcTensor &output) {
  return session.data.feeding() == Feeding::Rows && output.rank > 0 &&
         output.dims[0] == session.program.batch;
}

void stopIfAsked() { StopSignal::stopIfReceived("stopped; nothing was written"); }

} // namespace

void evaluate(const Session &session, const TrainingState &state) {
  const MtcProgram &program = session.program;
  const MtcRowMetrics &metrics = program.row_metrics;
  const bool byRow = metrics.row_loss >= 0 && metrics.row_weight >= 0;
  const int64_t rows = session.data.rows(), batch = session.data.batch(),
                counted = byRow ? rows : rows / batch * batch;
  if (counted == 0)
    userError("--evaluate: the loss of this program is known for whole batches only; ", batch,
              " samples are needed, the data has ", rows);
  StopSignal signal;
  session.setScalars(state.step + 1, /*microStep=*/0, /*learningRate=*/0, state.seed);
  double loss = 0, weight = 0, correct = 0;
  int64_t firstNotFinite = -1; // first sample of the first batch whose loss is not finite
  for (int64_t first = 0; first < counted; first += batch) {
    int64_t valid = runBatch(session, first, counted, &Device::evaluate);
    stopIfAsked();
    const double added = byRow ? sumOfRows(session, metrics.row_loss, valid)
                               : session.loss(session.requestLoss(program.evaluate_loss));
    loss += added;
    weight += byRow ? sumOfRows(session, metrics.row_weight, valid) : 1;
    if (byRow && metrics.row_correct >= 0)
      correct += sumOfRows(session, metrics.row_correct, valid);
    if (!std::isfinite(added) && firstNotFinite < 0)
      firstNotFinite = first;
  }
  nlohmann::ordered_json line;
  if (state.step)
    line["step"] = state.step;
  line["loss"] = loss / weight;
  if (byRow && metrics.row_correct >= 0)
    line["accuracy"] = correct / weight;
  line["samples"] = counted;
  if (byRow && weight == 0)
    warn("every label is one to be ignored, so there is no loss");
  if (firstNotFinite >= 0)
    warn("the loss is not finite: samples ", firstNotFinite, " to ",
         std::min(firstNotFinite + program.batch, counted) - 1,
         " (from 0) are the first batch whose loss is not finite");
  if (counted < rows)
    warn("the last ", rows - counted, " samples do not fill a batch of ", batch,
         " and were skipped");
  print("loss %.9g", withoutSignOfNan(loss / weight));
  if (line.contains("accuracy"))
    print("  accuracy %.6g", correct / weight);
  print("  samples %lld\n", static_cast<long long>(counted));
  if (!session.options.metrics.empty())
    MetricsFile(session.options.metrics, 0).writeLine(line.dump());
}

void writeOutputs(const Session &session, const TrainingState &state) {
  const MtcProgram &program = session.program;
  const int64_t rows = session.data.rows(), batch = session.data.batch();
  const int64_t batches = rows / batch + (rows % batch != 0);
  if (!program.output_count)
    userError("--outputs: the program has no outputs");
  std::vector<SafetensorsEntry> entries;
  for (uint32_t i = 0; i < program.output_count; ++i) {
    const MtcTensor &output = program.outputs[i];
    std::vector<int64_t> dims = shapeOf(output);
    if (hasRows(session, output))
      dims[0] = rows;
    else if (session.data.feeding() != Feeding::Whole) // The output has one value per step.
      dims.insert(dims.begin(), batches);
    entries.push_back({output.name, output.type, dims});
  }
  StopSignal signal;
  session.setScalars(state.step + 1, /*microStep=*/0, /*learningRate=*/0, state.seed);
  SafetensorsWriter writer(session.options.outputs, entries);
  for (int64_t step = 0; step < batches; ++step) {
    int64_t valid = runBatch(session, step * batch, rows, &Device::computeOutputs);
    stopIfAsked();
    for (uint32_t i = 0; i < program.output_count; ++i) {
      const MtcTensor &output = program.outputs[i];
      int64_t bytes = hasRows(session, output) ? output.bytes / batch * valid : output.bytes;
      session.device.read(output.offset, bytes, [&](const char *from, int64_t at, int64_t count) {
        writer.write(i, step * output.bytes + at, from, count);
      });
    }
  }
  writer.commit();
  if (!session.options.quiet)
    print("%u outputs of %lld samples in %s\n", program.output_count, static_cast<long long>(rows),
          printable(session.options.outputs).c_str());
}

} // namespace mtc::runtime
