// Reports of forward runs over a whole file.
#include "runtime/loop/evaluate.h"

#include "runtime/io/safetensors.h"
#include "runtime/loop/evaluation.h"
#include "runtime/loop/evaluation_metrics.h"
#include "runtime/loop/forward.h"
#include "runtime/loop/stop_signal.h"
#include "runtime/reports/metrics.h"
#include "runtime/reports/standard_output.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {
namespace {

/// Returns whether an output has one row per sample.
bool hasRows(const Session &session, const MtcTensor &output) {
  return session.data.feeding() == Feeding::Rows && output.rank > 0 &&
         output.dims[0] == session.program.batch;
}

/// Prints the metrics of a group. Returns whether there is one.
bool printGroup(const MtcProgram &program, const Evaluation &evaluation, MetricGroup group) {
  bool isPrinted = false;
  for (const auto &[name, value] : evaluation.metrics)
    if (findMetric(program, name)->group == group) {
      print("%s%s %.6g", isPrinted || group == MetricGroup::Main ? "  " : "", name.c_str(), value);
      isPrinted = true;
    }
  return isPrinted;
}

void stopIfAsked() { StopSignal::stopIfReceived("stopped; nothing was written"); }

} // namespace

void evaluate(const Session &session, const TrainingState &state) {
  checkEvaluates(session.program, session.data, "--evaluate");
  StopSignal signal;
  const std::optional<Evaluation> found =
      evaluateData(session, session.data, state.step + 1, state.seed);
  stopIfAsked();
  nlohmann::ordered_json line;
  if (state.step)
    line["step"] = state.step;
  line["loss"] = found->loss;
  for (const auto &[name, value] : found->metrics)
    line[name] = value;
  line["samples"] = found->samples;
  for (const std::string &warning : found->warnings)
    warn(warning);
  print("loss %.9g", found->loss);
  printGroup(session.program, *found, MetricGroup::Main);
  print("  samples %lld\n", static_cast<long long>(found->samples));
  if (printGroup(session.program, *found, MetricGroup::Confusion))
    print("\n");
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
  session.scalars().set(state.step + 1, /*microStep=*/0, /*learningRate=*/0, state.seed);
  std::optional<SafetensorsWriter> writer; // Other ranks only compute.
  if (session.ranks.isLeader())
    writer.emplace(session.options.outputs, entries);
  for (int64_t step = 0; step < batches; ++step) {
    int64_t valid = runForward(session, session.data, step * batch, rows, &Device::computeOutputs);
    stopIfAsked();
    for (uint32_t i = 0; i < program.output_count; ++i) {
      const MtcTensor &output = program.outputs[i];
      int64_t bytes = hasRows(session, output) ? output.bytes / batch * valid : output.bytes;
      session.device.read(output.offset, bytes, [&](const char *from, int64_t at, int64_t count) {
        if (writer)
          writer->write(i, step * output.bytes + at, from, count);
      });
    }
  }
  if (writer)
    writer->commit();
  if (!session.options.quiet)
    print("%u outputs of %lld samples in %s\n", program.output_count, static_cast<long long>(rows),
          printable(session.options.outputs).c_str());
}

} // namespace mtc::runtime
