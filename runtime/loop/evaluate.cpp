// Reports of forward runs over a whole file.
#include "runtime/loop/evaluate.h"

#include "runtime/collectives/to_leader.h"
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

#include <algorithm>
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

/// Prints the metrics of a group. Returns whether there is such an output.
bool printGroup(const MtcProgram &program, const Evaluation &evaluation, MetricGroup group) {
  bool isPrinted = false;
  for (const auto &[name, value] : evaluation.metrics)
    if (findMetric(program, name)->group == group) {
      print("%s%s %.6g", isPrinted || group == MetricGroup::Main ? "  " : "", name.c_str(), value);
      isPrinted = true;
    }
  return isPrinted;
}

/// The message of a signal.
constexpr const char *nothingWritten = "stopped; nothing was written";

/// Returns the number of bytes of an output that a batch with so many samples without padding has.
int64_t validBytes(const Session &session, const MtcTensor &output, int64_t samples) {
  return hasRows(session, output) ? output.bytes / session.data.batch() * samples : output.bytes;
}

/// Returns the size of the largest output of a batch.
int64_t largestOutput(const MtcProgram &program) {
  int64_t largest = 0;
  for (uint32_t i = 0; i < program.output_count; ++i)
    largest = std::max(largest, program.outputs[i].bytes);
  return largest;
}

} // namespace

void evaluate(const Session &session, const TrainingState &state) {
  checkEvaluates(session.program, session.data, "--evaluate");
  StopSignal signal;
  EvaluationSums sums(session.program, session.ranks);
  const std::optional<Evaluation> found =
      evaluateData(session, session.data, sums, state.step + 1, state.seed);
  StopSignal::stopIfAgreed(nothingWritten);
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
  const int64_t rows = session.data.rows();
  const ForwardBatches batches(session.data.batch(), rows, session.ranks);
  if (!program.output_count)
    userError("--outputs: the program has no outputs");
  std::vector<SafetensorsEntry> entries;
  for (uint32_t i = 0; i < program.output_count; ++i) {
    const MtcTensor &output = program.outputs[i];
    for (uint32_t shape = 0; shape < program.shape_count; ++shape)
      if (shapeOf(program.shapes[shape].outputs[i]) != shapeOf(output))
        userError("--outputs: the output '", output.name, "' is ", shapeText(shapeOf(output)),
                  " with ", program.shapes[0].name, ", and ",
                  shapeText(shapeOf(program.shapes[shape].outputs[i])), " with ",
                  program.shapes[shape].name,
                  ", which do not fit into one tensor; compile a program with one size of --dim");
    std::vector<int64_t> dims = shapeOf(output);
    if (hasRows(session, output))
      dims[0] = rows;
    else if (session.data.feeding() != Feeding::Whole) // The output has one value per step.
      dims.insert(dims.begin(), batches.count());
    entries.push_back({output.name, output.type, dims});
  }
  StopSignal signal;
  session.scalars().set(state.step + 1, /*microStep=*/0, /*learningRate=*/0, state.seed);
  ToLeader toLeader(session.ranks, largestOutput(program), "outputs of a batch");
  std::optional<SafetensorsWriter> writer;
  if (session.ranks.isLeader())
    writer.emplace(session.options.outputs, entries);
  auto move = [&](int rank, int64_t number, const MtcProgram &) {
    for (uint32_t i = 0; i < program.output_count; ++i) {
      const MtcTensor &output = program.outputs[i];
      toLeader.move(
          rank, validBytes(session, output, batches.samplesOf(number)),
          [&](int64_t begin, int64_t bytes, const ToLeader::Use &use) {
            session.device.read(output.offset + begin, bytes, use);
          },
          [&](const char *from, int64_t at, int64_t bytes) {
            writer->write(i, number * output.bytes + at, from, bytes);
          });
    }
  };
  runForward(session, session.data, batches, &MtcProgram::compute_outputs, move);
  StopSignal::stopIfAgreed(nothingWritten);
  if (writer)
    writer->commit();
  if (!session.options.quiet)
    print("%u outputs of %lld samples in %s\n", program.output_count, static_cast<long long>(rows),
          printable(session.options.outputs).c_str());
}

} // namespace mtc::runtime
