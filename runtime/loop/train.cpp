// Steps: load and micro-step, once or several times, update, report, save.
#include "runtime/loop/train.h"

#include "runtime/loop/schedule.h"
#include "runtime/loop/stop_signal.h"
#include "runtime/reports/metrics.h"
#include "runtime/reports/progress.h"
#include "runtime/reports/standard_output.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/divergence.h"
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

/// One run of the loop.
class Training {
public:
  Training(const Session &session, TrainingState &state)
      : session(session), state(state),
        total(lastStep(session.options, orderOf(session.data, state))),
        progress(total, session.options.quiet) {
    if (!session.options.metrics.empty())
      metrics.emplace(session.options.metrics, state.step);
  }

  void run() {
    const Options &options = session.options;
    if (state.step >= total && !options.quiet)
      print("step %lld is done already; --steps or --epochs say how far to go in all\n",
            static_cast<long long>(state.step));
    StopSignal signal;
    while (state.step < total && !StopSignal::received() && !problems.any()) {
      if (!step())
        break;
      checkFolder();
      if (options.saveEvery && state.step % options.saveEvery == 0)
        save();
    }
    report(0);
    if (isStateOfStep)
      problems.attempt([&] { save(); });
    // What goes wrong in the last update counts too.
    problems.attempt([&] { session.device.wait(); });
    progress.breakLine();
    if (isDataUnreadable && session.checkpoints)
      problems.add("training stopped after step ", state.step, " of ", total, "; ",
                   session.checkpoints->held());
    problems.throwIfAny();
    StopSignal::stopIfReceived(text("stopped after step ", state.step, " of ", total,
                                    !session.checkpoints
                                        ? "; nothing was saved, since there is no --save"
                                    : isStateOfStep ? "; go on with --resume " + options.save
                                                    : "; " + session.checkpoints->held(),
                                    options.exports() ? "; nothing was exported" : ""));
  }

private:
  using Clock = std::chrono::steady_clock;

  /// A step that was asked for and not reported yet.
  struct Pending {
    int64_t step;
    double rate;
    Clock::time_point begin;
    Session::StepRequest loss = {};
    /// What the update gives, where it does.
    std::optional<int64_t> norm = {}, scale = {}, skipped = {};
  };

  /// Runs the next step; false if it ended before its update, because its data cannot be read or a
  /// signal came when most of its micro-steps were still to run.
  bool step() {
    const int64_t number = state.step + 1;
    Pending pending = {number, learningRate(session.program, number, state.scheduleSteps),
                       Clock::now()};
    for (int64_t micro = 0; micro < session.microSteps(); ++micro) {
      if (StopSignal::received() && isFarFromEnd(pending.begin, micro))
        return abandonStep(micro);
      try {
        session.run(Phase::Load, number, [&] {
          session.setScalars(number, micro, pending.rate, state.seed);
          session.loadBatch(state, number, micro, total);
        });
      } catch (const Failure &) {
        report(0); // No metrics are written after a problem.
        problems.attempt([] { throw; });
        isDataUnreadable = true;
        return abandonStep(micro);
      }
      session.run(Phase::MicroStep, number, [&] {
        session.device.microStep();
        if (micro + 1 == session.microSteps())
          pending.loss = session.requestStepLoss(session.program.micro_step_loss);
      });
    }
    session.run(Phase::Update, number, [&] {
      session.device.update();
      pending.norm = request(session.program.gradient_norm, sizeof(double));
      pending.scale = request(scaling.used, sizeof(double));
      pending.skipped = request(scaling.skipped, sizeof(char));
    });
    state.step = number;
    queue.push_back(pending);
    report(session.device.queuedSteps());
    return true;
  }

  /// Whether the micro-steps that are left of a step take more than a second, as those before did.
  bool isFarFromEnd(Clock::time_point begin, int64_t done) const {
    const auto left = static_cast<double>(session.microSteps() - done);
    const std::chrono::duration<double> taken = Clock::now() - begin;
    return done > 0 && taken.count() / static_cast<double>(done) * left > 1;
  }

  /// After so many micro-steps, whose gradients are lost. They have changed no parameter, but
  /// running statistics.
  bool abandonStep(int64_t microSteps) {
    const MtcProgram &program = session.program;
    isStateOfStep =
        state.step > 0 &&
        (microSteps == 0 ||
         std::none_of(program.variables, program.variables + program.variable_count,
                      [](const MtcVariable &variable) { return variable.role == MTC_STATE; }));
    return false;
  }

  /// What cannot be saved need not be computed.
  void checkFolder() {
    const Clock::time_point now = Clock::now();
    if (!session.checkpoints || now - lastCheck < std::chrono::milliseconds(500))
      return;
    lastCheck = now;
    session.checkpoints->checkPresent();
  }

  /// Of what the program gives; nothing where it does not.
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

  /// Reports all steps but the last `queued`; ends training at one that shows that it diverged.
  void report(int queued) {
    for (; queue.size() > static_cast<size_t>(queued); queue.erase(queue.begin())) {
      const Pending &pending = queue.front();
      StepMetrics found = {.step = pending.step,
                           .loss = session.stepLoss(pending.loss).value,
                           .learningRate = pending.rate,
                           .gradientNorm = receive<double>(pending.norm),
                           .lossScale = receive<double>(pending.scale),
                           .skipped = receive<char>(pending.skipped).value_or(0) != 0};
      const Clock::time_point now = Clock::now();
      // A device goes on with a step when it has done the one before.
      if (found.gradientNorm)
        found.gradientNorm = withoutSignOfNan(*found.gradientNorm);
      found.seconds = std::chrono::duration<double>(now - std::max(pending.begin, lastEnd)).count();
      lastEnd = now;
      if (metrics && !problems.any())
        problems.attempt([&] { metrics->write(found); });
      progress.show(found);
      checkFinite(found);
    }
  }

  /// A loss that is not finite ends training, unless its step was skipped: what was updated by its
  /// gradients is never saved, since each save reports all steps first. Steps that are skipped end
  /// it when the loss scale has fallen as far as it can.
  void checkFinite(const StepMetrics &found) {
    if (found.skipped ? *found.lossScale > scaling.least : std::isfinite(found.loss))
      return warnOfSkipped(found);
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
                      "; training goes on, as --on-nan continue says"));
  }

  /// Computes the loss of a step again, whose data alone is given, to see where its values leave
  /// the range of f16; "" where they do not, or do not start finite. Training cannot go on after
  /// that.
  std::string findOverflow(int64_t step) {
    session.device.observe(finder);
    for (int64_t micro = 0; micro < session.microSteps(); ++micro) {
      session.run(Phase::Load, step, [&] { // Observers are to know what is written.
        session.setScalars(step, micro, /*learningRate=*/0, state.seed);
        session.loadBatch(state, step, micro, step);
      });
      if (!startsFinite(session.program, session.device))
        return "";
      session.device.microStep();
      if (finder.found())
        return describeOverflow(*finder.found());
    }
    return "";
  }

  /// Once, of a step whose data may be to blame.
  void warnOfSkipped(const StepMetrics &found) {
    if (!std::isfinite(found.loss))
      warn(warnedOfSkipped,
           text("the loss of step ", found.step, " is ", found.loss,
                "; the step was skipped, as are all whose gradients are not finite"));
  }

  void warn(bool &warned, const std::string &problem) {
    if (std::exchange(warned, true))
      return;
    progress.breakLine();
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

  const Session &session;
  const MtcLossScaling &scaling = session.program.loss_scaling;
  TrainingState &state;
  int64_t total, savedStep = -1;
  Progress progress;
  std::optional<MetricsFile> metrics;
  std::vector<Pending> queue; ///< the first asked for comes first
  Clock::time_point lastEnd{}, lastCheck{};
  bool isStateOfStep = true; ///< the variables are those of `state.step`, to save
  bool isDataUnreadable = false;
  Problems problems; ///< after which training stops, but saves
  bool warned = false, warnedOfSkipped = false;
  OverflowFinder finder{session.device};
};

} // namespace

void train(const Session &session, TrainingState &state) { Training(session, state).run(); }

} // namespace mtc::runtime
