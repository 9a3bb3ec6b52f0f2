#include "runtime/run_inputs.h"

#include "runtime/loop/evaluation.h"
#include "runtime/loop/schedule.h"
#include "runtime/loop/schedule_override.h"
#include "runtime/loop/train.h"
#include "runtime/output_check.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"
#include "support/terminal/suggestions.h"

namespace mtc::runtime {

/// Returns the initial training state: that of a checkpoint, or of step 0.
static TrainingState startingState(const Options &options,
                                   const std::optional<Checkpoint> &resumed) {
  TrainingState state;
  if (!resumed) {
    state.seed = options.seed.value_or(0);
    state.shuffle = options.shuffle.value_or(true);
    state.lastBatch = options.lastBatch.value_or(LastBatch::Wrap);
    state.normalizations = options.normalizations;
    state.augmentations = options.augmentations;
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
  auto checkFlags = [&](const auto &given, const auto &saved, const char *none) {
    if (!given.empty() && given != saved)
      userError("--resume ", options.resume, ": the checkpoint was made with ",
                saved.empty() ? none : flagsOf(saved), ", not with ", flagsOf(given));
  };
  checkFlags(options.normalizations, state.normalizations, "unnormalized data");
  checkFlags(options.augmentations, state.augmentations, "no augmentation");
  return state;
}

/// Chooses how samples are drawn: as the flags specify, which must agree with the checkpoint. A
/// resumed run balances classes without the flag.
static void chooseSampling(const Options &options, bool isResumed, Dataset &data,
                           TrainingState &state) {
  const bool balances = options.balancesClasses || state.sampling.starts_with("--balance-classes");
  if (!options.sampleWeights.empty())
    data.sampleByWeights(options.sampleWeights);
  else if (balances)
    data.balanceClasses();
  const std::string sampling = data.sampler() ? data.sampler()->description() : "";
  if (isResumed && sampling != state.sampling)
    userError("--resume ", options.resume, ": the checkpoint was made ",
              state.sampling.empty() ? "without weights of samples" : "with " + state.sampling,
              "; this run has ", sampling.empty() ? "no --sample-weights" : sampling);
  state.sampling = sampling;
}

/// Reports the classes of a folder of images.
static void reportClasses(const Options &options, const TrainingState &state, const Dataset &data) {
  if (options.quiet || state.classes.empty() || !data.readsImages())
    return;
  note(state.classes.size(),
       " classes, numbered in this order: ", terminal::listNames(state.classes),
       state.normalizations.empty() ? "; pixels are 0 to 255, and --scale INPUT=1/255 maps them to "
                                      "0 to 1"
                                    : "");
}

/// Reports samples that are used twice or not at all, unless the user has set --last-batch.
static void reportLastBatch(const MtcProgram &program, const Options &options, const Dataset &data,
                            const TrainingState &state, int64_t steps) {
  const std::string line = describeUnevenUse(program, data, state, steps);
  const bool isWarning = data.rows() < data.batchOfStep();
  if (!line.empty() && !options.lastBatch && (isWarning || !options.quiet))
    writeMessage(text(isWarning ? "warning: " : "note: ", line));
}

void RunInputs::openCheckpoints(const Options &options) {
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

RunInputs::RunInputs(const MtcProgram &program, const std::string &programPath,
                     const Options &options, const Ranks &ranks) {
  Problems problems;
  if (ranks.isLeader()) // Only this rank writes files.
    checkOutputs(program, programPath, options, problems);
  if (!options.save.empty())
    problems.collect([&] { openCheckpoints(options); });
  problems.collect([&] {
    if (!options.resume.empty())
      resumed.emplace(program, options.resume);
    state = startingState(options, resumed);
    if (std::string problem = checkSettings(program, state.settings);
        options.trains() && !problem.empty())
      userError("--resume ", options.resume, ": ", problem);
    for (const auto &[name, value] : options.settings)
      state.settings[name] = value;
    if (options.schedule.any())
      state.schedule =
          overrideSchedule(ScheduleSettings(scheduleOf(program, state)), options.schedule);
  });
  DataTransforms transforms = {state.normalizations, state.augmentations,        state.seed,
                               options.readThreads,  !options.gradients.empty(), state.classes};
  if (options.readsData())
    problems.collect([&] {
      data.emplace(program, options.data, !options.outputs.empty(), "--data", transforms);
      state.classes = transforms.classes = data->classes();
      reportClasses(options, state, *data);
    });
  if (!options.validate.empty())
    problems.collect([&] {
      validation.emplace(program, options.validate, /*labelsOptional=*/false, "--validate",
                         transforms);
      checkEvaluates(program, *validation, "--validate");
    });
  for (const std::optional<Dataset> *each : {&data, &validation})
    if (*each && !problems.any())
      for (const std::string &warning : (*each)->warnings())
        warn(warning);
  const bool usesOrder = options.trains() || !options.gradients.empty();
  if (usesOrder && !problems.any())
    problems.collect([&] {
      chooseSampling(options, resumed.has_value(), *data, state);
      chooseBatches(program, options, resumed.has_value(), *data, state);
      order = orderOf(*data, state);
      const int64_t last = lastStep(options, *order);
      if (options.trains())
        state.scheduleSteps =
            chooseScheduleSteps(program, state, resumed ? &resumed->state() : nullptr, last,
                                options.scheduleSteps, options.schedule.spelling());
      if (!problems.any() && !data->sampler())
        reportLastBatch(program, options, *data, state, options.trains() ? last : 1);
    });
  problems.throwIfAny();
  if (resumed && options.trains() && !options.quiet && !resumed->batchChange().empty())
    note("--resume ", options.resume, ": ", resumed->batchChange());
  if (resumed && !resumed->state().settings.empty() && options.settings.empty() &&
      options.trains() && !options.quiet)
    note("--resume ", options.resume, ": the hyperparameters are those of the checkpoint's run, ",
         describeSettings(state.settings));
  for (const auto &[name, value] : options.settings)
    if (const std::string compiled = compiledValues(program, name);
        compiled.find(" and ") != std::string::npos && !options.quiet)
      note(name, " ", value, " replaces the compiled values ", compiled);
  if (resumed && state.schedule && !options.schedule.any() && options.trains() && !options.quiet)
    note("--resume ", options.resume, ": the learning rate is that of the checkpoint's run, ",
         state.schedule->flags());
}

} // namespace mtc::runtime
