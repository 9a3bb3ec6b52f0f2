// Listeners and checkpoint folders of a run.
#include "runtime/library/run.h"

#include "runtime/loop/evaluation_metrics.h"
#include "runtime/loop/program_facts.h"
#include "runtime/reports/progress.h"
#include "runtime/state/checkpoint_history.h"
#include "runtime/support/failure.h"

#include <cmath>
#include <memory>
#include <utility>

namespace mtc::runtime {
namespace {

/// Passes the progress to the caller.
class CallerProgress final : public ProgressOutput {
public:
  explicit CallerProgress(const RunOptions &options) : options(options) {}

  int columns() const override { return options.columns; }
  void draw(const std::string &bar) override { options.showProgress(bar, true); }
  void print(const std::string &line) override { options.showProgress(line, false); }
  void keep() override {}

private:
  const RunOptions &options;
};

/// Returns the metric of the best validation, with its direction if the program computes it.
BestMetric metricOf(const MtcProgram &program, const BestMetric &given) {
  const MetricKind *known = findMetric(program, given.name);
  return known ? BestMetric{known->name, known->isHigherBetter} : given;
}

} // namespace

void checkReplaces(const CheckpointFolder &folder) {
  if (folder.heldStep())
    userError(folder.name(), ": ", folder.held(),
              ", and this trainer does not continue it; load the checkpoint first, or save into "
              "another folder");
}

Run::Run(const MtcProgram &program, TrainingState &state, RunOptions given,
         const std::function<bool(const std::string &folder)> &isOwn)
    : program(program), state(state), options(std::move(given)),
      best(state.validation, metricOf(program, options.best), options.earlyStop) {
  if (options.keepsBest && options.save.empty())
    userError("the best checkpoint needs a folder; set save");
  if (options.lastStep < 0 || options.samplesPerEpoch < 0 || options.earlyStop < 0)
    userError("last step ", options.lastStep, ", samples per epoch ", options.samplesPerEpoch,
              ", early stop ", options.earlyStop, ": expected 0 or more");
  if (!options.save.empty()) {
    const bool continues = isOwn(options.save);
    checkpoints.emplace(options.save);
    if (options.keepsBest)
      bestCheckpoint.emplace(options.save + "/" + bestFolderName);
    if (!continues)
      checkReplaces(*checkpoints);
    if (!continues && bestCheckpoint)
      checkReplaces(*bestCheckpoint);
  }
  addReports(program, options.reports, state.step, listeners);
  if (options.showProgress)
    listeners.add(std::make_unique<Progress>(std::make_unique<CallerProgress>(options)));
  RunFacts facts = factsOf(program, state, options.lastStep);
  facts.samplesPerStep = program.batch * program.accumulation.micro_steps;
  facts.samplesPerEpoch = options.samplesPerEpoch;
  facts.program = program.model_name;
  Problems problems;
  listeners.begin(facts, problems);
  problems.throwIfAny();
  restartClock();
}

/// Throws if a step diverged, by the criteria of programs.
void Run::checkFinite(const StepMetrics &metrics) const {
  if (metrics.skipped ? *metrics.lossScale > program.loss_scaling.min_scale
                      : std::isfinite(metrics.loss) || program.loss_scaling.used >= 0)
    return;
  systemError(
      "the loss of step ", metrics.step, " is ", metrics.loss,
      metrics.skipped ? " and its gradients are not finite" : "", ", so training was stopped; ",
      checkpoints ? checkpoints->held() : "no checkpoint was saved",
      ". Likely causes are values in the data that are not finite, a batch whose labels are "
      "all ignored, or steps that are too large: set a lower learning rate, or compile with "
      "--clip-norm");
}

void Run::step(StepMetrics metrics) {
  const Clock::time_point now = Clock::now();
  metrics.seconds = std::chrono::duration<double>(now - mark).count();
  mark = now;
  Problems problems;
  listeners.step(metrics, problems);
  problems.throwIfAny();
  checkFinite(metrics);
}

bool Run::validation(ValidationMetrics metrics) {
  std::optional<double> value;
  std::string names = "loss";
  if (best.metricName() == "loss")
    value = metrics.loss;
  for (const auto &[name, each] : metrics.metrics) {
    names += ", " + name;
    if (name == best.metricName())
      value = each;
  }
  if (!value)
    userError("the best validation is that of the metric '", best.metricName(),
              "', which this validation does not have; expected one of: ", names);
  metrics.isBest = best.record(state.step, *value);
  Problems problems;
  listeners.validation(metrics, problems);
  problems.throwIfAny();
  return metrics.isBest;
}

void Run::saveBest(Device &device, const FiniteVariables &finite) {
  if (!bestCheckpoint)
    return;
  // The best is saved first, so that the latest checkpoint refers to no best one that a kill
  // prevented.
  bestCheckpoint->save(program, device, state, finite);
  checkpoints->adopt(program, *bestCheckpoint);
}

CheckpointFolder *Run::folderAt(const std::string &path) {
  return checkpoints && checkpoints->isAt(path) ? &*checkpoints : nullptr;
}

void Run::end(RunOutcome outcome, const std::string &message) {
  std::string reason = message;
  if (outcome == RunOutcome::Completed && best.stopsEarly() && state.step != options.lastStep)
    reason = text("stopped early after step ", state.step, ": ", best.describeStop());
  Problems problems;
  listeners.end({outcome, state.step, reason}, problems);
  if (options.showProgress && !reason.empty())
    options.showProgress(reason, false);
  problems.throwIfAny();
}

} // namespace mtc::runtime
