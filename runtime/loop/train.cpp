// A step consists of its micro-steps, the update, the report, the validation and the save.
#include "runtime/loop/train.h"

#include "runtime/loop/disk_rate.h"
#include "runtime/loop/micro_steps.h"
#include "runtime/loop/run_facts.h"
#include "runtime/loop/schedule.h"
#include "runtime/loop/stop_signal.h"
#include "runtime/loop/validation.h"
#include "runtime/reports/run_listener.h"
#include "runtime/reports/standard_output.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/divergence.h"
#include "runtime/state/divided_file.h"
#include "runtime/state/overflow_finder.h"
#include "runtime/support/failure.h"
#include "runtime/support/messages.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

namespace mtc::runtime {

int64_t lastStep(const Options &options, const BatchOrder &order) {
  if (options.steps)
    return *options.steps;
  const int64_t epochs = options.epochs.value_or(1);
  if (std::optional<int64_t> steps = order.stepsOf(epochs))
    return *steps;
  userError("--epochs ", epochs, ": more steps than can be counted");
}

namespace {

/// One execution of the training loop.
class Training {
public:
  Training(const Session &session, TrainingState &state)
      : session(session), state(state), total(lastStep(session.options, *session.order)) {
    if (session.validation)
      validation.emplace(session, state);
  }

  void run() {
    const Options &options = session.options;
    session.listeners.begin(factsOf(session, state, total), problems);
    problems.throwIfAny();
    problems.attempt([&] { trainSteps(); });
    const RunOutcome outcome = problems.any()              ? RunOutcome::Failed
                               : StopSignal::agreed() != 0 ? RunOutcome::Stopped
                                                           : RunOutcome::Completed;
    const bool stopsEarly = outcome == RunOutcome::Completed && validation && state.step < total &&
                            validation->getBest().stopsEarly();
    const std::string early = stopsEarly ? text("stopped early after step ", state.step, " of ",
                                                total, ": ", validation->getBest().describeStop())
                                         : "";
    session.listeners.end({outcome, state.step, stopsEarly ? early : problems.message()}, problems);
    problems.throwIfAny();
    if (validation && !options.quiet)
      printBest(early);
    StopSignal::stopIfAgreed(text("stopped after step ", state.step, " of ", total,
                                  !session.checkpoints
                                      ? "; nothing was saved, since there is no --save"
                                  : isStateOfStep ? "; go on with --resume " + options.save
                                                  : "; " + session.checkpoints->held(),
                                  options.exports() ? "; nothing was exported" : ""));
  }

private:
  using Clock = std::chrono::steady_clock;

  /// Trains, reports and saves. Throws if training diverged, and adds errors to `problems`.
  void trainSteps() {
    const Options &options = session.options;
    if (state.step >= total && !options.quiet)
      print("step %lld is done already; --steps or --epochs say how far to go in all\n",
            static_cast<long long>(state.step));
    StopSignal signal;
    if (validation)
      continueValidation();
    while (state.step < total && !isStopped()) {
      if (!step())
        break;
      checkFolder();
      if (needsValidation())
        validate();
      if (options.saveEvery && state.step % options.saveEvery == 0)
        saveRegularly();
    }
    report(0);
    if (isStateOfStep)
      problems.attempt([&] { save(); });
    // Errors of the last update count too.
    problems.attempt([&] { session.device.wait(); });
    if (isDataUnreadable && session.checkpoints)
      problems.add("training stopped after step ", state.step, " of ", total, "; ",
                   session.checkpoints->held());
    // A signal after the last step counts, too.
    waitForRankZero(session.program, session.device);
    StopSignal::agree(session.ranks, "agreement on the end");
  }

  /// Returns whether training ends before its last step. All ranks call it before each step and
  /// agree: a signal that one has received stops all.
  bool isStopped() {
    waitForRankZero(session.program, session.device); // It saves what is due after the last step.
    return StopSignal::agree(session.ranks, "agreement on the next step",
                             problems.any() || (validation && validation->getBest().stopsEarly()));
  }

  /// Returns whether the current step is to be validated: at the steps of --validate-every and at
  /// the last one. After a signal, this validation is left to the resumed run. The result is the
  /// same on all ranks.
  bool needsValidation() const {
    return validation && !StopSignal::agreed() &&
           (validation->isDue() || (state.step >= total && !validation->isDone()));
  }

  /// Restores validation state: copies the best checkpoint to a new folder and repeats an
  /// interrupted validation, so that the resumed run matches an uninterrupted one.
  void continueValidation() {
    const ValidationState &known = state.validation;
    if (session.best && known.best && session.best->heldStep().value_or(0) < known.bestStep) {
      if (known.bestStep == state.step)
        saveBest();
      else if (!session.options.quiet)
        note(session.best->name(), ": the ", validation->getBest().describe(),
             " is that of an earlier run, whose checkpoint is not in this folder");
    }
    if (needsValidation())
      validate();
  }

  /// Evaluates the validation data after all steps so far, and saves a checkpoint that is the best.
  /// All ranks call it.
  void validate() {
    report(0);
    waitForRankZero(session.program, session.device); // It may save the best checkpoint.
    if (session.ranks.maximum(problems.any(), "agreement on the validation"))
      return;
    std::optional<ValidationMetrics> found;
    try {
      found = validation->run();
    } catch (const Failure &) {
      if (session.ranks.count() > 1)
        throw; // The other ranks wait for this one.
      problems.attempt([] { throw; });
      isDataUnreadable = true;
      return;
    }
    if (!found) // A signal arrived.
      return;
    session.listeners.validation(*found, problems);
    if (found->isBest)
      saveBest();
  }

  /// Prints the best validation and its checkpoint. `early` is the reason of an early stop, or "".
  void printBest(const std::string &early) const {
    const std::string best = validation->getBest().describe();
    const int64_t step = state.validation.bestStep;
    const bool isHeld = session.best && !best.empty() && session.best->heldStep() == step;
    const std::string held =
        isHeld ? text("the checkpoint of step ", step, " is in ", session.best->name()) : "";
    if (!early.empty())
      print("%s%s%s\n", early.c_str(), held.empty() ? "" : "; ", printable(held).c_str());
    else if (isHeld)
      print("%s; %s\n", best.c_str(), printable(held).c_str());
  }

  /// A step that is enqueued but not reported yet.
  struct Pending {
    int64_t step;
    double rate;
    Clock::time_point begin;
    StepLossRequest loss = {};
    /// Requests for results of the update, if the program computes them.
    std::optional<int64_t> norm = {}, scale = {}, skipped = {};
  };

  /// Runs the next step. Returns false if the step ended before its update: either its data cannot
  /// be read, or a signal arrived while most of its micro-steps remained.
  bool step() {
    const int64_t number = state.step + 1;
    session.ranks.setStep(number);
    const DiskTraffic before = session.device.diskTraffic();
    Pending pending = {
        number, learningRate(scheduleOf(session.program, state), number, state.scheduleSteps),
        Clock::now()};
    MicroSteps microSteps(session, number, pending.rate, state.seed, total);
    if (!microSteps.run()) {
      if (microSteps.problem()) {
        report(0); // No metrics are written after an error.
        problems.attempt([&] { std::rethrow_exception(microSteps.problem()); });
        isDataUnreadable = true;
      }
      return abandonStep(microSteps.done());
    }
    const bool updateGathersLoss = session.program.accumulation.step_loss_sum >= 0;
    if (!updateGathersLoss)
      pending.loss = microSteps.requestLoss();
    session.run(Phase::Update, number, [&] {
      session.device.run(session.program.update);
      if (updateGathersLoss)
        pending.loss = microSteps.requestLoss();
      pending.norm = request(session.program.gradient_norm, sizeof(double));
      pending.scale = request(scaling.used, sizeof(double));
      pending.skipped = request(scaling.skipped, sizeof(char));
    });
    state.step = number;
    noteSlowDisk(before);
    queue.push_back(pending);
    report(session.device.queuedSteps());
    return true;
  }

  /// Compares the copies of the second step of this execution with the plan: the first one reads
  /// state that has not been written yet. `before` is the traffic before the step.
  void noteSlowDisk(const DiskTraffic &before) {
    if (++steps != 2 || session.options.quiet)
      return;
    const DiskTraffic after = session.device.diskTraffic();
    const std::string problem = describeSlowDisk(
        session.program, {after.bytes - before.bytes, after.seconds - before.seconds});
    if (!problem.empty())
      note(problem);
  }

  /// Abandons a step after `microSteps` micro-steps and their gradients. They have changed no
  /// parameter, but possibly running statistics.
  bool abandonStep(int64_t microSteps) {
    const MtcProgram &program = session.program;
    isStateOfStep =
        state.step > 0 &&
        (microSteps == 0 ||
         std::none_of(program.variables, program.variables + program.variable_count,
                      [](const MtcVariable &variable) { return variable.role == MTC_STATE; }));
    return false;
  }

  /// Ends training if checkpoints can no longer be saved.
  void checkFolder() {
    const Clock::time_point now = Clock::now();
    if (!session.checkpoints || now - lastCheck < std::chrono::milliseconds(500))
      return;
    lastCheck = now;
    session.checkpoints->checkPresent();
  }

  /// Requests a result; nullopt if the program does not compute it.
  std::optional<int64_t> request(int64_t offset, int64_t bytes) const {
    return offset < 0 ? std::nullopt : std::optional(session.device.request(offset, bytes));
  }
  template <typename Value> std::optional<Value> receive(const std::optional<int64_t> &request) {
    Value value{};
    if (!request)
      return std::nullopt;
    session.device.receive(*request, &value);
    return value;
  }

  /// Reports all steps except the last `queued` ones; ends training at a step that diverged.
  void report(int queued) {
    for (; queue.size() > static_cast<size_t>(queued); queue.erase(queue.begin())) {
      const Pending &pending = queue.front();
      StepMetrics found = {.step = pending.step,
                           .loss = session.scalars().stepLoss(pending.loss).value,
                           .learningRate = pending.rate,
                           .gradientNorm = receive<double>(pending.norm),
                           .lossScale = receive<double>(pending.scale),
                           .skipped = receive<char>(pending.skipped).value_or(0) != 0};
      const Clock::time_point now = Clock::now();
      // The device starts a step when it has completed the previous one.
      if (found.gradientNorm)
        found.gradientNorm = withoutSignOfNan(*found.gradientNorm);
      found.seconds = std::chrono::duration<double>(now - std::max(pending.begin, lastEnd)).count();
      lastEnd = now;
      session.listeners.step(found, problems);
      checkFinite(found);
    }
  }

  /// Ends training at a loss that is not finite, unless its step was skipped or had no targets. The
  /// parameters updated by such a step are never saved, because each save first reports all steps.
  /// Skipped steps end training when the loss scale has reached its minimum.
  void checkFinite(const StepMetrics &found) {
    if (found.skipped ? *found.lossScale > scaling.min_scale : std::isfinite(found.loss))
      return warnOfSkipped(found);
    if (hasNoTargets(found))
      return warn(warnedOfNoTargets,
                  text("the loss of step ", found.step, " is ", found.loss,
                       " because all targets are ignored; all gradients are finite"));
    const std::string problem =
        found.skipped ? text("step ", found.step, " has gradients that are not finite, though the ",
                             "loss scale has fallen to ", *found.lossScale)
                      : text("the loss of step ", found.step, " is ", found.loss);
    if (!session.options.continuesOnNan)
      stopDiverged(problem,
                   session.checkpoints ? session.checkpoints->held()
                                       : "nothing was saved, since there is no --save",
                   std::isfinite(found.loss) ? "" : findOverflow(found.step));
    warn(warned, text(problem, found.skipped ? "" : ", and the weights may be lost",
                      "; training continues (--on-nan continue)"));
  }

  /// Returns whether the loss of a step is 0 / 0, a mean over no targets, whose gradients are 0.
  /// Without loss scaling, this is not known: a step that is not skipped has finite gradients only
  /// if they are checked.
  bool hasNoTargets(const StepMetrics &found) const {
    return scaling.used >= 0 && !found.skipped && std::isnan(found.loss);
  }

  /// Recomputes the loss of a step to find the operation whose f16 values overflow. Returns advice;
  /// "" if no operation overflows, or if the inputs or variables are already not finite. Training
  /// cannot continue afterwards.
  std::string findOverflow(int64_t step) {
    // A search that ends on one rank would leave the others waiting. Tasks compute in parts.
    if (session.ranks.count() > 1 || session.program.micro_steps.count)
      return "";
    session.device.observe(finder);
    for (int64_t micro = 0; micro < session.microSteps(); ++micro) {
      const MtcProgram *shaped = &session.program;
      // Load as a phase, because observers must be notified of writes by the host.
      session.run(Phase::Load, step, [&] {
        session.scalars().set(step, micro, /*learningRate=*/0, state.seed);
        shaped = &session.loadBatch({step, micro}, noBatch);
      });
      if (!startsFinite(session.program, session.device))
        return "";
      session.device.run(shaped->micro_step);
      if (finder.found())
        return describeOverflow(*finder.found());
    }
    return "";
  }

  /// Warns once, about a step whose data may be the cause.
  void warnOfSkipped(const StepMetrics &found) {
    if (!std::isfinite(found.loss))
      warn(warnedOfSkipped,
           text("the loss of step ", found.step, " is ", found.loss,
                "; the step was skipped, as are all whose gradients are not finite"));
  }

  void warn(bool &warned, const std::string &problem) {
    if (!std::exchange(warned, true))
      runtime::warn(problem);
  }

  void save() {
    if (!session.checkpoints || savedStep == state.step)
      return;
    report(0);
    session.run(Phase::Save, state.step, [&] {
      session.checkpoints->save(session.program, session.device, state, session.finite);
    });
    savedStep = state.step;
  }

  /// Saves the best checkpoint, which is then also the latest. The best is saved first, so that the
  /// latest checkpoint refers to no best one that a kill prevented.
  void saveBest() {
    if (!session.best)
      return;
    session.run(Phase::Save, state.step, [&] {
      session.best->save(session.program, session.device, state, session.finite);
      session.checkpoints->adopt(session.program, *session.best);
    });
    savedStep = state.step;
  }

  void saveRegularly() {
    save();
    if (session.history && session.checkpoints)
      session.history->keep(session.program, *session.checkpoints, state.step);
  }

  const Session &session;
  const MtcLossScaling &scaling = session.program.loss_scaling;
  TrainingState &state;
  int64_t total, savedStep = -1, steps = 0;
  std::optional<Validation> validation; ///< if there is validation data
  std::vector<Pending> queue;           ///< oldest first
  Clock::time_point lastEnd{}, lastCheck{};
  bool isStateOfStep = true; ///< the variables are those of `state.step`, so they can be saved
  bool isDataUnreadable = false;
  Problems problems; ///< errors that stop training but still allow a save
  bool warned = false, warnedOfSkipped = false, warnedOfNoTargets = false;
  OverflowFinder finder{session.device};
};

} // namespace

void train(const Session &session, TrainingState &state) { Training(session, state).run(); }

} // namespace mtc::runtime
