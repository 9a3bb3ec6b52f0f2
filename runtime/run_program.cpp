// Dispatches the command line to a kind of run. All inputs are validated before memory is
// allocated, and outputs are checked before any time is spent.
#include "runtime/run_program.h"

#include "runtime/abi/file_marks.h"
#include "runtime/abi/memory_limit.h"
#include "runtime/checks/memory_check.h"
#include "runtime/collectives/ranks.h"
#include "runtime/io/durable_file.h"
#include "runtime/loop/evaluate.h"
#include "runtime/loop/gradients.h"
#include "runtime/loop/session.h"
#include "runtime/loop/signal_thread.h"
#include "runtime/loop/train.h"
#include "runtime/rank_agreement.h"
#include "runtime/reports/memory_report.h"
#include "runtime/reports/profile.h"
#include "runtime/reports/profile_summary.h"
#include "runtime/reports/progress.h"
#include "runtime/reports/report_files.h"
#include "runtime/reports/standard_output.h"
#include "runtime/reports/terminal_progress.h"
#include "runtime/reports/trace.h"
#include "runtime/state/adapters.h"
#include "runtime/state/averages.h"
#include "runtime/state/divided_file.h"
#include "runtime/state/export_model.h"
#include "runtime/state/export_weights.h"
#include "runtime/state/initial_weights.h"
#include "runtime/state/stored_variable.h"
#include "runtime/support/failure.h"
#include "runtime/support/memory_limit.h"
#include "runtime/support/messages.h"
#include "runtime/support/process.h"
#include "runtime/support/stages.h"

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <unistd.h>
#include <vector>

namespace mtc::runtime {
namespace {

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

/// Returns the size of the arena. Gradients that are live after the update, and whole outputs, may
/// need more memory than training.
int64_t arenaBytes(const MtcProgram &program, const Options &options) {
  if (!options.gradients.empty())
    return program.separate_arena_bytes;
  return options.outputs.empty() ? program.arena_bytes : program.outputs_arena_bytes;
}

template <typename Value> Value *addressOf(std::optional<Value> &value) {
  return value ? &*value : nullptr;
}

void addListeners(const MtcProgram &program, const Options &options, int64_t step,
                  RunListeners &listeners) {
  addReports(program, {options.metrics, options.tensorboard, options.report}, step, listeners);
  if (!options.quiet)
    listeners.add(std::make_unique<Progress>(std::make_unique<TerminalProgress>()));
}

/// Executes the run except for the exports at its end. Write errors are added to `failures`, so
/// that the exports still run.
void runOnData(const MtcProgram &program, const std::string &programPath, const Options &options,
               Device &device, Ranks &ranks, RunInputs &inputs, const FiniteVariables &finite,
               Problems &failures) {
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
  runSession({program, fileNameOf(programPath), options, device, ranks, *inputs.data,
              inputs.order.get(), addressOf(inputs.validation), batches, observers, listeners,
              addressOf(inputs.checkpoints), addressOf(inputs.best), addressOf(inputs.history),
              finite},
             inputs.state);
  if (trace)
    failures.attempt([&] { trace->finish(); });
  if (options.summarizes)
    failures.attempt([&] { reportProfile(program, device, options, profile); });
}

/// Returns the options of a rank that prints nothing and writes no files. Its exports decide
/// whether the run trains, as on rank 0, which writes them.
Options withoutOutputs(Options options) {
  options.quiet = true;
  options.saveEvery = options.keep = 0;
  options.summarizes = false;
  for (std::string *each : {&options.metrics, &options.tensorboard, &options.report, &options.save,
                            &options.profile, &options.profileSummary})
    each->clear();
  return options;
}

void run(const MtcProgram &program, const std::string &programPath, const Options &options,
         Ranks &ranks) {
  RunInputs inputs(program, programPath, options, ranks);
  const InitialWeights weights(
      program,
      {options.weights, folderOf(programPath), options.threads, options.quiet, inputs.state.seed},
      inputs.resumed.has_value());
  std::unique_ptr<Device> opened =
      openDevice(program, {options.device, options.threads, arenaBytes(program, options),
                           options.offloadFolder, nullptr, &ranks});
  Device &device = *opened;
  weights.initialize(device);
  writeSettings(program, device, inputs.state.settings);
  if (inputs.resumed)
    inputs.resumed->load(program, device);
  writeCopies(program, device);
  agree(program, options, inputs, device, ranks);
  FiniteVariables finite;
  // Ranks that do not save check their pieces for rank 0.
  const bool keepsVariables = !options.save.empty() || options.exports() ||
                              (ranks.count() > 1 && hasPartialVariables(program));
  if (options.trains() && keepsVariables && !options.continuesOnNan)
    finite = FiniteVariables(program, device);
  if (options.useEma && !options.trains())
    useAverages(program, device);
  Problems failures;
  if (inputs.data)
    runOnData(program, programPath, options, device, ranks, inputs, finite, failures);
  std::vector<RankMemory> memory;
  if (options.trains() && (!options.memoryReport.empty() || options.useEma))
    waitForRankZero(program, device); // It saves what is due after the last step.
  if (!options.memoryReport.empty() && options.trains())
    memory = gatherMemory(ranks, arenaBytes(program, options));
  if (options.useEma && options.trains())
    useAverages(program, device);
  if (!ranks.isLeader())
    return waitForRankZero(program, device);
  auto attemptExport = [&](MtcExportForm form, const std::string &path) {
    if (!path.empty())
      failures.attempt([&] { exportModel(program, device, finite, weights, form, path); });
  };
  attemptExport(MTC_INFERENCE_FORM, options.exportTo);
  attemptExport(MTC_ORIGINAL_FORM, options.exportTrainingTo);
  if (!options.exportWeightsTo.empty())
    failures.attempt([&] {
      exportWeights(program, device, finite, weights, trainedBatches(program, inputs.state),
                    options.weightsFormat, options.exportWeightsTo);
    });
  if (!options.exportAdaptersTo.empty())
    failures.attempt([&] {
      exportAdapters(program, device, finite, options.adapterModel, options.exportAdaptersTo);
    });
  if (!options.memoryReport.empty())
    failures.attempt([&] {
      writeMemoryReport(program, device, arenaBytes(program, options), memory,
                        options.memoryReport);
    });
  waitForRankZero(program, device);
  failures.throwIfAny();
}

/// Divides the cores of the machine among its ranks, unless the launcher has bound each to cores of
/// its own.
int threadsOfRank(const Options &options, const Ranks &ranks) {
  const int cores = availableCores();
  const bool isBound = cores < sysconf(_SC_NPROCESSORS_ONLN);
  return isBound ? std::min(options.threads, cores)
                 : std::min(options.threads, std::max(1, cores / ranks.countOfMachine()));
}

/// Runs a rank. The others stay silent about what all have in common.
void runRank(const MtcProgram &program, const std::string &programPath, Options options,
             Ranks &ranks) {
  ranks.checkCount(program.ranks > 1 ? program.ranks : 1);
  ranks.setSharingRanks(program.sharing_ranks);
  if (program.stages > 1)
    ranks.setStages(program.stages, program.results_stage);
  if ((program.collective_count || program.micro_steps.count) && !options.gradients.empty())
    userError("--gradients: gradients of a program with --ranks are spread over the ranks; compile "
              "the model without --ranks");
  if (program.micro_steps.count && program.redzone)
    userError("programs with pipeline stages cannot check their memory yet; compile the model "
              "without --check-memory or without --pipeline");
  // If rank 0 has all variables, it exports alone.
  const bool needsAllRanks = options.readsData() || hasPartialVariables(program);
  if (ranks.count() > 1 && needsAllRanks)
    ranks.preparePieces();
  if (ranks.count() > 1 && !options.isThreadsGiven)
    options.threads = threadsOfRank(options, ranks);
  if (ranks.isLeader())
    return run(program, programPath, options, ranks);
  if (!needsAllRanks)
    return;
  silenceOutput();
  const MessageSink silent([](const std::string &) {});
  run(program, programPath, withoutOutputs(std::move(options)), ranks);
}

/// Reports a failure, once if all ranks have it, and returns the exit code. A rank that fails alone
/// ends the others.
int reportFailure(const Failure &failure, Ranks *ranks) {
  flushOutput();
  const std::string what = failure.exitCode() > exitSignal ? "" : "error: ";
  if (!ranks || ranks->count() == 1) {
    writeMessage(text(what, failure.what()));
    return failure.exitCode();
  }
  if (ranks->isLeader())
    writeMessage(text(what, failure.what()));
  if (ranks->endTogether())
    return failure.exitCode();
  if (!ranks->isLeader())
    writeMessage(
        text(what, ranks->describe(ranks->rank()), ": ", failure.what(), "; all ranks end"));
  ranks->abort(failure.exitCode());
}

} // namespace

int runProgram(const MtcProgram &program, const std::string &programPath,
               const std::vector<std::string> &arguments, OpenTransport open) {
  const std::string name = fileNameOf(programPath);
  guardMemoryLimit();
  // A closed output pipe and an exceeded file size limit are reported by system calls and must not
  // kill a training run.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  startOutput();
  std::optional<Ranks> ranks;
  try {
    if (program.abi_version != MTC_ABI_VERSION)
      systemError("the program was compiled for version ", program.abi_version,
                  " of the runtime, but linked with version ", MTC_ABI_VERSION);
    SignalThread signals;
    Options options;
    std::exception_ptr problem;
    try {
      options = parseOptions(program, arguments);
    } catch (const Failure &) {
      problem = std::current_exception();
    }
    if (!options.help && !options.version && !options.describes) {
      ranks.emplace(open, options.timeout); // Before errors are reported, which all ranks may have.
      if (problem)
        std::rethrow_exception(problem);
      runRank(*stageOf(&program, ranks->rank()), programPath, options, *ranks);
    } else if (options.help) {
      print("%s", printable(helpText(program, name, options.helpsWithAll)).c_str());
    } else if (options.describes) {
      print("%s\n", describeProgramAsJson(program).c_str());
    } else {
      print("%s: %s, compiled by mtc %s\n", printable(name).c_str(),
            printable(program.model_name).c_str(), program.compiler_version);
    }
    checkOutput();
    return exitDone;
  } catch (const Failure &failure) {
    return reportFailure(failure, ranks ? &*ranks : nullptr);
  } catch (const std::bad_alloc &) {
    mtc_report_out_of_memory("");
    if (ranks && ranks->count() > 1)
      ranks->abort(exitSystemFault);
    return exitSystemFault;
  }
}

int runMain(const MtcProgram &program, int count, char **arguments, OpenTransport open) {
  // The real path of the executable, independent of the name in argv[0].
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  const std::string name = length > 0  ? std::string(path, static_cast<size_t>(length))
                           : count > 0 ? arguments[0]
                                       : "";
  return runProgram(program, name,
                    std::vector<std::string>(arguments + (count > 0), arguments + count), open);
}

} // namespace mtc::runtime
