// Dispatches the command line to a kind of run. All inputs are validated before memory is
// allocated, and outputs are checked before any time is spent.
#include "runtime/run_program.h"

#include "runtime/abi/file_marks.h"
#include "runtime/checks/memory_check.h"
#include "runtime/io/durable_file.h"
#include "runtime/loop/evaluate.h"
#include "runtime/loop/evaluation.h"
#include "runtime/loop/gradients.h"
#include "runtime/loop/listeners.h"
#include "runtime/loop/options.h"
#include "runtime/loop/schedule.h"
#include "runtime/loop/schedule_override.h"
#include "runtime/loop/session.h"
#include "runtime/loop/signal_thread.h"
#include "runtime/loop/train.h"
#include "runtime/output_check.h"
#include "runtime/reports/memory_report.h"
#include "runtime/reports/profile.h"
#include "runtime/reports/profile_summary.h"
#include "runtime/reports/standard_output.h"
#include "runtime/reports/trace.h"
#include "runtime/state/adapters.h"
#include "runtime/state/averages.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/checkpoint_history.h"
#include "runtime/state/export_model.h"
#include "runtime/state/export_weights.h"
#include "runtime/state/stored_variable.h"
#include "runtime/state/variables.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace mtc::runtime {
namespace {

std::string nameOf(const std::string &path) { return path.substr(path.find_last_of('/') + 1); }

/// Returns the initial training state: that of a checkpoint, or of step 0.
TrainingState startingState(const Options &options, const std::optional<Checkpoint> &resumed) {
  TrainingState state;
  if (!resumed) {
    state.seed = options.seed.value_or(0);
    state.shuffle = options.shuffle.value_or(true);
    state.lastBatch = options.lastBatch.value_or(LastBatch::Wrap);
    return state;
  }
  state = resumed->state();
  if (options.seed && *options.seed != state.seed)
    userError("--seed ", *options.seed, ": the checkpoint in ", options.resume,
              " was made with seed ", state.seed);
  if (options.shuffle && *options.shuffle != state.shuffle)
    userError("--resume ", options.resume, ": the checkpoint was made with ",
              state.shuffle ? "--shuffle" : "--no-shuffle");
  if (options.lastBatch && *options.lastBatch != state.lastBatch)
    userError("--resume ", options.resume, ": the checkpoint was made with --last-batch ",
              nameOf(state.lastBatch), "; with ", nameOf(*options.lastBatch),
              " its steps would have been of other rows");
  return state;
}

void runSession(const Session &session, TrainingState &state) {
  const Options &options = session.options;
  if (!options.gradients.empty())
    return writeGradients(session, state);
  if (!options.outputs.empty())
    return writeOutputs(session, state);
  if (options.evaluate)
    return evaluate(session, state);
  train(session, state);
}

/// Reports samples that are used twice or not at all, unless the user has set --last-batch.
void sayLastBatch(const MtcProgram &program, const Options &options, const Dataset &data,
                  LastBatch last, int64_t steps) {
  const std::string line = describeLastBatch(last, program, data.rows(), data.batchOfStep(), steps);
  const bool isWarning = data.rows() < data.batchOfStep();
  if (!line.empty() && !options.lastBatch && (isWarning || !options.quiet))
    writeMessage(text(isWarning ? "warning: " : "note: ", line));
}

void reportProfile(const MtcProgram &program, Device &device, const Options &options,
                   Profile &profile) {
  profile.finish();
  auto summary = summarize(program, profile, device, options.threads);
  if (!options.quiet)
    print("%s", printable(summaryTable(summary)).c_str());
  if (options.profileSummary.empty())
    return;
  nlohmann::ordered_json marked = {{MTC_WRITER_KEY, MTC_WRITER}};
  marked.update(summary);
  DurableFile file(options.profileSummary);
  file.append(marked.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  file.commit();
}

/// Returns the size of the arena. Gradients that are live after the update, and whole outputs, need
/// more memory than training.
int64_t arenaBytes(const MtcProgram &program, const Options &options) {
  const bool isAside = !options.gradients.empty() || !options.outputs.empty();
  return isAside ? program.aside_arena_bytes : program.arena_bytes;
}

/// The inputs of a run. All errors are reported in one failure.
struct Inputs {
  std::optional<CheckpointFolder> checkpoints; ///< checkpoints of --save
  std::optional<CheckpointFolder> best;        ///< the checkpoint of --keep-best
  std::optional<CheckpointHistory> history;    ///< the checkpoints of --keep
  std::optional<Checkpoint> resumed;
  std::optional<Dataset> data;       ///< nullopt if the run only exports
  std::optional<Dataset> validation; ///< data of --validate
  TrainingState state;

  Inputs(const MtcProgram &program, const std::string &programPath, const Options &options) {
    Problems problems;
    checkOutputs(program, programPath, options, problems);
    if (!options.save.empty())
      problems.collect([&] { openCheckpoints(options); });
    problems.collect([&] {
      if (!options.resume.empty())
        resumed.emplace(program, options.resume);
      state = startingState(options, resumed);
      if (options.schedule.any())
        state.schedule =
            overrideSchedule(ScheduleSettings(scheduleOf(program, state)), options.schedule);
    });
    if (options.trains() || options.evaluate || !options.gradients.empty() ||
        !options.outputs.empty())
      problems.collect([&] { data.emplace(program, options.data, !options.outputs.empty()); });
    if (!options.validate.empty())
      problems.collect([&] {
        validation.emplace(program, options.validate, /*labelsOptional=*/false, "--validate");
        checkEvaluates(program, *validation, "--validate");
      });
    for (const std::optional<Dataset> *each : {&data, &validation})
      if (*each && !(*each)->warning().empty() && !problems.any())
        warn((*each)->warning());
    const bool usesOrder = options.trains() || !options.gradients.empty();
    if (usesOrder && !problems.any())
      problems.collect([&] {
        checkLastBatch(state.lastBatch, program, data->rows(), data->batchOfStep());
        const int64_t last = lastStep(options, orderOf(*data, state));
        if (options.trains())
          state.scheduleSteps =
              chooseScheduleSteps(program, state, resumed ? &resumed->state() : nullptr, last,
                                  options.scheduleSteps, options.schedule.spelling());
        if (!problems.any())
          sayLastBatch(program, options, *data, state.lastBatch, options.trains() ? last : 1);
      });
    problems.throwIfAny();
    if (resumed && state.schedule && !options.schedule.any() && options.trains() && !options.quiet)
      note("--resume ", options.resume, ": the learning rate is that of the checkpoint's run, ",
           state.schedule->flags());
  }

private:
  void openCheckpoints(const Options &options) {
    checkpoints.emplace(options.save);
    if (!options.keepBest.empty())
      best.emplace(options.save + "/" + bestFolderName);
    if (options.keep)
      history.emplace(options.save, options.keep);
    if (options.overwrites)
      return;
    checkpoints->checkReplaces(options.resume);
    if (best && !checkpoints->isAt(options.resume))
      best->checkReplaces(options.resume);
    if (history)
      history->checkReplaces(options.resume);
  }
};

template <typename Value> Value *addressOf(std::optional<Value> &value) {
  return value ? &*value : nullptr;
}

/// Executes the run except for the exports at its end. Write errors are added to `failures`, so
/// that the exports still run.
void runOnData(const MtcProgram &program, const std::string &programPath, const Options &options,
               Device &device, Inputs &inputs, const FiniteVariables &finite, Problems &failures) {
  std::optional<Trace> trace;
  Profile profile;
  std::vector<Observer *> observers;
  if (!options.profile.empty())
    observers.push_back(&trace.emplace(options.profile));
  if (options.summarizes)
    observers.push_back(&profile);
  std::optional<MemoryCheck> check;
  if (program.redzone) {
    if (!options.quiet)
      std::fputs("note: compiled with --check-memory: each operation is followed by a check of the "
                 "whole arena\n",
                 stderr);
    observers.push_back(&check.emplace(program, device, arenaBytes(program, options)));
  }
  device.prepare(observers);
  BatchReader batches(program, device);
  RunListeners listeners;
  if (options.trains())
    addListeners(program, options, inputs.state.step, listeners);
  runSession({program, nameOf(programPath), options, device, *inputs.data,
              addressOf(inputs.validation), batches, observers, listeners,
              addressOf(inputs.checkpoints), addressOf(inputs.best), addressOf(inputs.history),
              finite},
             inputs.state);
  if (trace)
    failures.attempt([&] { trace->finish(); });
  if (options.summarizes)
    failures.attempt([&] { reportProfile(program, device, options, profile); });
}

void run(const MtcProgram &program, const std::string &programPath, const Options &options) {
  Inputs inputs(program, programPath, options);
  std::unique_ptr<Device> opened =
      openDevice(program, {options.device, options.threads, arenaBytes(program, options),
                           options.offloadFolder});
  Device &device = *opened;
  const WeightsChoice weights{options.weights, folderOf(programPath), options.quiet};
  initializeVariables(program, device, options.threads, weights, inputs.resumed.has_value());
  if (inputs.resumed)
    inputs.resumed->load(program, device);
  writeCopies(program, device);
  FiniteVariables finite;
  const bool keepsVariables = !options.save.empty() || options.exports();
  if (options.trains() && keepsVariables && !options.continuesOnNan)
    finite = FiniteVariables(program, device);
  if (options.useEma && !options.trains())
    useAverages(program, device);
  Problems failures;
  if (inputs.data)
    runOnData(program, programPath, options, device, inputs, finite, failures);
  if (options.useEma && options.trains())
    useAverages(program, device);
  auto attemptExport = [&](MtcExportForm form, const std::string &path) {
    if (!path.empty())
      failures.attempt(
          [&] { exportModel(program, device, finite, options.threads, weights, form, path); });
  };
  attemptExport(MTC_INFERENCE_FORM, options.exportTo);
  attemptExport(MTC_ORIGINAL_FORM, options.exportTrainingTo);
  if (!options.exportWeightsTo.empty())
    failures.attempt([&] {
      exportWeights(program, device, finite, options.threads, weights,
                    inputs.state.step * program.accumulation.micro_steps, options.exportWeightsTo);
    });
  if (!options.exportAdaptersTo.empty())
    failures.attempt([&] { exportAdapters(program, device, finite, options.exportAdaptersTo); });
  if (!options.memoryReport.empty())
    failures.attempt([&] {
      writeMemoryReport(program, device, arenaBytes(program, options), options.memoryReport);
    });
  failures.throwIfAny();
}

} // namespace

int runProgram(const MtcProgram &program, const std::string &programPath,
               const std::vector<std::string> &arguments) {
  const std::string name = nameOf(programPath);
  // A closed output pipe and an exceeded file size limit are reported by system calls and must not
  // kill a training run.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  startOutput();
  try {
    if (program.abi_version != MTC_ABI_VERSION)
      systemError("the program was compiled for version ", program.abi_version,
                  " of the runtime, but linked with version ", MTC_ABI_VERSION);
    SignalThread signals;
    Options options = parseOptions(program, arguments);
    if (options.help)
      print("%s", printable(helpText(program, name, options.helpsWithAll)).c_str());
    else if (options.version)
      print("%s: %s, compiled by mtc %s\n", printable(name).c_str(),
            printable(program.model_name).c_str(), program.compiler_version);
    else
      run(program, programPath, options);
    checkOutput();
    return exitDone;
  } catch (const Failure &failure) {
    flushOutput();
    writeMessage(text(failure.exitCode() > exitSignal ? "" : "error: ", failure.what()));
    return failure.exitCode();
  } catch (const std::bad_alloc &) {
    std::fputs("error: out of memory\n", stderr);
    return exitSystemFault;
  }
}

} // namespace mtc::runtime
