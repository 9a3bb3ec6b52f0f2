#include "runtime/rank_agreement.h"

#include "runtime/io/checksum.h"
#include "runtime/loop/schedule.h"
#include "runtime/loop/train.h"
#include "runtime/state/variables.h"
#include "runtime/support/failure.h"

#include <vector>

namespace mtc::runtime {

/// Returns the checksum of all variables of this rank that training starts from and that are not
/// divided: those of its pipeline stage, or those of all stages.
static std::string checksumOfVariables(const MtcProgram &program, Device &device, bool isOfStage) {
  Checksum sum;
  for (uint32_t i = 0; i < program.variable_count; ++i)
    if (const MtcVariable &variable = program.variables[i];
        (variable.stage == program.stage || variable.stage < 0) &&
        (program.stages > 1 && variable.stage >= 0) == isOfStage && variable.role != MTC_GRADIENT &&
        variable.role != MTC_SCALAR && variable.initial != MTC_INITIAL_NONE && !variable.whole)
      device.read(runtime::addressOf(variable.tensor), variable.tensor.bytes,
                  [&](const char *from, int64_t, int64_t bytes) { sum.add(from, bytes); });
  return checksumText(sum.value());
}

/// Returns the kind of run, as a flag.
static const char *kindOf(const Options &options) {
  return options.evaluate ? "--evaluate" : !options.outputs.empty() ? "--outputs" : "training";
}

void agree(const MtcProgram &program, const Options &options, const RunInputs &inputs,
           Device &device, Ranks &ranks) {
  if (ranks.count() == 1 || !inputs.data)
    return;
  const TrainingState &state = inputs.state;
  std::vector<Ranks::Setting> settings;
  auto add = [&](const char *name, const auto &...values) {
    settings.push_back({name, text(values...)});
  };
  add("program", program.compiler_version, " ", program.fingerprint);
  settings.push_back({"size of the arena", text(program.arena_bytes), /*isOfStage=*/true});
  add("kind of run", kindOf(options));
  add("checksum of the weights", checksumOfVariables(program, device, /*isOfStage=*/false));
  settings.push_back({"checksum of the stage's weights",
                      checksumOfVariables(program, device, /*isOfStage=*/true),
                      /*isOfStage=*/true});
  add("number of samples", inputs.data->rows());
  add("number of samples of --validate", inputs.validation ? inputs.validation->rows() : 0);
  add("last step", options.trains() ? lastStep(options, *inputs.order) : 0);
  add("step to resume from", state.step);
  add("--seed", state.seed);
  add("--shuffle", state.shuffle);
  add("--last-batch", nameOf(state.lastBatch));
  add("--bucket-by", state.isGrouped ? "length" : "none", " ", state.stepsPerEpoch);
  add("--scale, --mean and --std", flagsOf(state.normalizations));
  add("--augment", flagsOf(state.augmentations));
  add("weights of samples", state.sampling);
  add("learning-rate schedule", ScheduleSettings(scheduleOf(program, state)).flags(), " ",
      state.scheduleSteps);
  add("hyperparameters", describeSettings(state.settings));
  add("--validate-every", options.validateEvery);
  add("--keep-best", options.keepBest);
  add("--early-stop", options.earlyStop);
  add("--on-nan continue", options.continuesOnNan);
  add("--use-ema", options.useEma);
  add("--memory-report given", !options.memoryReport.empty());
  ranks.agree(settings);
}

} // namespace mtc::runtime
