// From the command line to the kind of run that it asks for. Everything that can be wrong in the
// input is checked before memory is taken, and what will be written is tried before time is spent.
#include "runtime/run_program.h"

#include "runtime/checkpoint.h"
#include "runtime/durable_file.h"
#include "runtime/evaluate.h"
#include "runtime/export_model.h"
#include "runtime/failure.h"
#include "runtime/memory_report.h"
#include "runtime/options.h"
#include "runtime/profile.h"
#include "runtime/profile_summary.h"
#include "runtime/session.h"
#include "runtime/trace.h"
#include "runtime/train.h"
#include "runtime/variables.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace mtc::runtime {
namespace {

/// A file that will be written at the end must have a folder that can be written to.
void checkTarget(const char *flag, const std::string &path, Problems &problems) {
  if (path.empty())
    return;
  std::string folder = folderOf(path);
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    problems.add(flag, " ", path, ": is a folder or a device; the name of a file is expected");
  else if (access(folder.c_str(), W_OK | X_OK) != 0)
    problems.add(flag, " ", path, ": the folder ", folder,
                 " cannot be written to: ", std::strerror(errno));
}

/// Where training starts: at a checkpoint, or at the beginning.
TrainingState startingState(const MtcProgram &program, const Options &options) {
  TrainingState state;
  if (!options.resume.empty()) {
    state = readTrainingState(program, options.resume);
    if (options.seed && *options.seed != state.seed)
      userError("--seed ", *options.seed, ": the checkpoint in ", options.resume,
                " was made with seed ", state.seed);
    if (options.shuffle && *options.shuffle != state.shuffle)
      userError("--resume ", options.resume, ": the checkpoint was made with ",
                state.shuffle ? "--shuffle" : "--no-shuffle");
    return state;
  }
  state.seed = options.seed.value_or(0);
  state.shuffle = options.shuffle.value_or(true);
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

void reportProfile(const MtcProgram &program, Device &device, const Options &options,
                   Profile &profile) {
  profile.finish();
  auto summary = summarize(program, profile, device, options.threads);
  if (!options.quiet)
    std::fputs(summaryTable(summary).c_str(), stdout);
  if (options.profileSummary.empty())
    return;
  DurableFile file(options.profileSummary);
  file.append(summary.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  file.commit();
}

/// Gradients that outlive their update need memory that training does not.
int64_t arenaBytes(const MtcProgram &program, const Options &options) {
  return options.gradients.empty() ? program.arena_bytes
                                   : std::max(program.arena_bytes, program.gradients_arena_bytes);
}

void run(const MtcProgram &program, const std::string &programPath, const Options &options) {
  Problems problems;
  checkTarget("--gradients", options.gradients, problems);
  checkTarget("--outputs", options.outputs, problems);
  checkTarget("--export", options.exportTo, problems);
  checkTarget("--memory-report", options.memoryReport, problems);
  checkTarget("--profile-summary", options.profileSummary, problems);
  TrainingState state;
  problems.collect([&] { state = startingState(program, options); });
  const bool usesData = options.trains() || options.evaluate || !options.gradients.empty() ||
                        !options.outputs.empty();
  std::optional<Dataset> data;
  if (usesData)
    problems.collect([&] { data.emplace(program, options.data, !options.outputs.empty()); });
  if (!options.save.empty())
    problems.collect([&] { CheckpointFolder(options.save); });
  problems.throwIfAny();

  std::unique_ptr<Device> opened = openDevice(program, options, arenaBytes(program, options));
  Device &device = *opened;
  initializeVariables(program, device, options.threads, options.weights, folderOf(programPath),
                      !options.resume.empty());
  if (!options.resume.empty())
    loadCheckpoint(program, device, options.resume);
  if (usesData) {
    std::optional<Trace> trace;
    Profile profile;
    std::vector<Observer *> observers;
    if (!options.profile.empty())
      observers.push_back(&trace.emplace(options.profile));
    if (options.summarizes)
      observers.push_back(&profile);
    device.prepare(observers);
    BatchReader batches(program, *data, device);
    runSession({program, options, device, *data, batches, observers}, state);
    if (trace)
      trace->finish();
    if (options.summarizes)
      reportProfile(program, device, options, profile);
  }
  if (!options.exportTo.empty())
    exportModel(program, device, options.exportTo);
  if (!options.memoryReport.empty())
    writeMemoryReport(program, device, arenaBytes(program, options), options.memoryReport);
}

} // namespace

int runProgram(const MtcProgram &program, const std::string &programPath,
               const std::vector<std::string> &arguments) {
  size_t slash = programPath.find_last_of('/');
  std::string name = slash == std::string::npos ? programPath : programPath.substr(slash + 1);
  // A reader of the output that has gone and a limit on file sizes are errors of calls, not ends of
  // a training run.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    if (program.abi_version != MTC_ABI_VERSION)
      systemError("the program was compiled for version ", program.abi_version,
                  " of the runtime, but linked with version ", MTC_ABI_VERSION);
    Options options = parseOptions(program, arguments);
    if (options.help)
      std::fputs(helpText(program, name).c_str(), stdout);
    else if (options.version)
      std::printf("%s: %s, compiled by mtc %s\n", name.c_str(), program.model_name,
                  program.compiler_version);
    else
      run(program, programPath, options);
    if (std::fflush(stdout) != 0 && errno != EPIPE)
      systemError("standard output cannot be written: ", std::strerror(errno));
    return exitDone;
  } catch (const Failure &failure) {
    std::fflush(stdout);
    std::fprintf(stderr, "error: %s\n", failure.what());
    return failure.exitCode();
  } catch (const std::bad_alloc &) {
    std::fputs("error: the system gave no more memory\n", stderr);
    return exitSystemFault;
  }
}

} // namespace mtc::runtime
