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
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {
namespace {

/// Returns whether an output of a program, or of one of its shapes, has one row per sample.
bool hasRows(const Session &session, const MtcTensor &output, int64_t batch) {
  return session.data.feeding() == Feeding::Rows && output.rank > 0 && output.dims[0] == batch;
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

/// Prints precision, recall and F1 of each class, unless there are many.
void printClasses(const ConfusionMatrix &confusion, const std::vector<std::string> &names) {
  constexpr int64_t maxClasses = 30;
  if (confusion.classes() < 2 || confusion.classes() > maxClasses)
    return;
  size_t width = 5; // of the heading
  for (int64_t label = 0; label < confusion.classes(); ++label)
    width = std::max(width, classNameOf(names, label).size());
  const int columns = static_cast<int>(width);
  print("%-*s  precision  recall  f1      targets\n", columns, "class");
  for (int64_t label = 0; label < confusion.classes(); ++label) {
    const ClassScores scores = confusion.scoresOf(label);
    print("%-*s  %-9.4f  %.4f  %.4f  %lld\n", columns, printable(classNameOf(names, label)).c_str(),
          scores.precision, scores.recall, scores.f1, static_cast<long long>(scores.labelled));
  }
}

/// Returns the scores of a class, and its row of the confusion matrix.
nlohmann::ordered_json lineOfClass(const ConfusionMatrix &confusion, int64_t label,
                                   const std::vector<std::string> &names) {
  const ClassScores scores = confusion.scoresOf(label);
  std::vector<int64_t> predictions;
  predictions.reserve(static_cast<size_t>(confusion.classes()));
  for (int64_t predicted = 0; predicted < confusion.classes(); ++predicted)
    predictions.push_back(confusion.at(label, predicted));
  return {{"class", classNameOf(names, label)},
          {"precision", scores.precision},
          {"recall", scores.recall},
          {"f1", scores.f1},
          {"targets", scores.labelled},
          {"predictions", predictions}};
}

/// The message of a signal.
constexpr const char *nothingWritten = "stopped; nothing was written";

/// The bytes of an output of a batch in the file, without padding samples.
struct OutputRange {
  int64_t at, bytes;
};

OutputRange rangeOf(const Session &session, const MtcProgram &shaped, uint32_t output,
                    const ForwardBatches &batches, int64_t number) {
  const MtcTensor &tensor = shaped.outputs[output];
  if (!hasRows(session, tensor, shaped.batch))
    return {number * tensor.bytes, tensor.bytes};
  const int64_t bytesOfSample = tensor.bytes / shaped.batch;
  return {batches.firstOf(number) * bytesOfSample, batches.samplesOf(number) * bytesOfSample};
}

/// Returns the shape of an output in the file, for `rows` samples in `batches` batches. Throws a
/// user error if its extents depend on the shape of the inputs.
std::vector<int64_t> dimsInFile(const Session &session, uint32_t output, int64_t rows,
                                int64_t batches) {
  const MtcProgram &program = session.program;
  auto dimsOf = [&](const MtcTensor &tensor, int64_t batch) {
    std::vector<int64_t> dims = shapeOf(tensor);
    if (hasRows(session, tensor, batch))
      dims[0] = rows;
    else if (session.data.feeding() != Feeding::Whole) // The output has one value per batch.
      dims.insert(dims.begin(), batches);
    return dims;
  };
  const MtcTensor &tensor = program.outputs[output];
  std::vector<int64_t> dims = dimsOf(tensor, program.batch);
  for (uint32_t i = 0; i < program.shape_count; ++i) {
    const MtcShape &shape = program.shapes[i];
    if (dimsOf(shape.outputs[output], shape.batch) != dims)
      userError("--outputs: the output '", tensor.name, "' is ", shapeText(shapeOf(tensor)),
                " with ", program.shapes[0].name, ", and ",
                shapeText(shapeOf(shape.outputs[output])), " with ", shape.name,
                ", which do not fit into one tensor; compile a program with one size of --dim");
  }
  return dims;
}

/// Returns the size of the largest output of a batch.
int64_t largestOutput(const MtcProgram &program) {
  int64_t largest = 0;
  for (uint32_t i = 0; i < program.output_count; ++i) {
    largest = std::max(largest, program.outputs[i].bytes);
    for (uint32_t shape = 0; shape < program.shape_count; ++shape)
      largest = std::max(largest, program.shapes[shape].outputs[i].bytes);
  }
  return largest;
}

/// Returns the metadata of a file of outputs: the names of the classes, if they are known.
std::map<std::string, std::string> metadataOf(const TrainingState &state) {
  if (state.classes.empty())
    return {};
  return {{"classes", nlohmann::json(state.classes).dump()}};
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
  printClasses(found->confusion, state.classes);
  if (session.options.metrics.empty())
    return;
  MetricsFile metrics(session.options.metrics, 0);
  metrics.writeLine(line.dump());
  for (int64_t label = 0; label < found->confusion.classes(); ++label)
    metrics.writeLine(lineOfClass(found->confusion, label, state.classes).dump());
}

void writeOutputs(const Session &session, const TrainingState &state) {
  const MtcProgram &program = session.program;
  const int64_t rows = session.data.rows();
  const ForwardBatches batches(session.data.batch(), rows, session.ranks,
                               session.data.shapesOfRows());
  if (!program.output_count)
    userError("--outputs: the program has no outputs");
  std::vector<SafetensorsEntry> entries;
  entries.reserve(program.output_count);
  for (uint32_t i = 0; i < program.output_count; ++i)
    entries.push_back({program.outputs[i].name, program.outputs[i].type,
                       dimsInFile(session, i, rows, batches.count())});
  StopSignal signal;
  session.scalars().set(state.step + 1, /*microStep=*/0, /*learningRate=*/0, state.seed);
  ToLeader toLeader(session.ranks, largestOutput(program), "outputs of a batch");
  std::optional<SafetensorsWriter> writer;
  if (session.ranks.isLeader())
    writer.emplace(session.options.outputs, entries, metadataOf(state));
  auto move = [&](int rank, int64_t number, const MtcProgram &shaped) {
    for (uint32_t i = 0; i < program.output_count; ++i) {
      const MtcTensor &output = shaped.outputs[i];
      const OutputRange range = rangeOf(session, shaped, i, batches, number);
      toLeader.move(
          rank, range.bytes,
          [&](int64_t begin, int64_t bytes, const ToLeader::Use &use) {
            session.device.read(output.offset + begin, bytes, use);
          },
          [&](const char *from, int64_t at, int64_t bytes) {
            writer->write(i, range.at + at, from, bytes);
          });
    }
  };
  runForward(session, session.data, batches, outputsPass, move);
  StopSignal::stopIfAgreed(nothingWritten);
  if (writer)
    writer->commit();
  if (!session.options.quiet)
    print("%u outputs of %lld samples in %s\n", program.output_count, static_cast<long long>(rows),
          printable(session.options.outputs).c_str());
}

} // namespace mtc::runtime
