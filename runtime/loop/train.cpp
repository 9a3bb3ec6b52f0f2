// Steps: load, micro-step, update, report, save.
#include "runtime/loop/train.h"

#include "runtime/io/safetensors.h"
#include "runtime/loop/schedule.h"
#include "runtime/loop/stop_signal.h"
#include "runtime/reports/metrics.h"
#include "runtime/reports/progress.h"
#include "runtime/reports/standard_output.h"
#include "runtime/state/checkpoint.h"
#include "runtime/state/divergence.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <optional>
#include <utility>

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
      step();
      if (options.saveEvery && state.step % options.saveEvery == 0)
        save();
    }
    report(0);
    problems.attempt([&] { save(); });
    // What goes wrong in the last update counts too.
    problems.attempt([&] { session.device.wait(); });
    progress.breakLine();
    problems.throwIfAny();
    StopSignal::stopIfReceived(text("stopped after step ", state.step, " of ", total,
                                    session.checkpoints
                                        ? "; go on with --resume " + options.save
                                        : "; nothing was saved, since there is no --save",
                                    options.exportTo.empty() ? "" : "; nothing was exported"));
  }

private:
  using Clock = std::chrono::steady_clock;

  /// A step that was asked for and not reported yet.
  struct Pending {
    int64_t step, loss;
    std::optional<int64_t> norm; ///< of the gradients
    double rate;
    Clock::time_point begin;
  };

  void step() {
    const int64_t number = state.step + 1;
    Pending pending = {number, 0, std::nullopt,
                       learningRate(session.program, number, state.scheduleSteps), Clock::now()};
    session.run(Phase::Load, number, [&] {
      session.setScalars(number, pending.rate, state.seed);
      session.loadBatch(state, number, total);
    });
    session.run(Phase::MicroStep, number, [&] {
      session.device.microStep();
      pending.loss = session.requestLoss(session.program.micro_step_loss);
    });
    session.run(Phase::Update, number, [&] {
      session.device.update();
      if (session.program.gradient_norm >= 0)
        pending.norm = session.device.request(session.program.gradient_norm, sizeof(double));
    });
    state.step = number;
    queue.push_back(pending);
    report(session.device.queuedSteps());
  }

  /// Reports all steps but the last `queued`; ends training at a loss that is not finite.
  void report(int queued) {
    for (; queue.size() > static_cast<size_t>(queued); queue.pop_front()) {
      const Pending &pending = queue.front();
      const double loss = session.loss(pending.loss);
      std::optional<double> norm;
      if (pending.norm)
        session.device.receive(*pending.norm, &norm.emplace());
      const Clock::time_point now = Clock::now();
      // A device goes on with a step when it has done the one before.
      const double seconds =
          std::chrono::duration<double>(now - std::max(pending.begin, lastEnd)).count();
      lastEnd = now;
      const StepMetrics found = {pending.step, loss, pending.rate, norm, seconds};
      if (metrics && !problems.any())
        problems.attempt([&] { metrics->write(found); });
      progress.show(found);
      if (!std::isfinite(loss))
        handleLoss(pending.step, loss);
    }
  }

  /// A loss that is not finite: what was updated by its gradients is never saved, since each save
  /// reports all steps first.
  void handleLoss(int64_t step, double loss) {
    const std::string found = text("the loss of step ", step, " is ", loss);
    if (!session.options.continuesOnNan)
      stopDiverged(found, session.checkpoints ? session.checkpoints->held()
                                              : "nothing was saved, since there is no --save");
    if (std::exchange(warned, true))
      return;
    progress.breakLine();
    std::fprintf(stderr,
                 "warning: %s, and the weights may be lost; training goes on, as --on-nan continue "
                 "says\n",
                 found.c_str());
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
  TrainingState &state;
  int64_t total, savedStep = -1;
  Progress progress;
  std::optional<MetricsFile> metrics;
  std::deque<Pending> queue;
  Clock::time_point lastEnd{};
  Problems problems; ///< after which training stops, but saves
  bool warned = false;
};

} // namespace

void train(const Session &session, TrainingState &state) { Training(session, state).run(); }

static void warnOfGradients(double loss, const std::vector<std::string> &notFinite) {
  if (!std::isfinite(loss))
    std::fprintf(stderr, "warning: the loss is %f\n", loss);
  constexpr size_t shown = 5;
  for (size_t i = 0; i < std::min(notFinite.size(), shown); ++i)
    std::fprintf(stderr, "warning: the gradient of '%s' holds values that are not finite\n",
                 notFinite[i].c_str());
  if (notFinite.size() > shown)
    std::fprintf(stderr, "warning: so do the gradients of %zu other parameters\n",
                 notFinite.size() - shown);
}

void writeGradients(const Session &session, const TrainingState &state) {
  const MtcProgram &program = session.program;
  std::vector<const MtcVariable *> gradients;
  std::vector<SafetensorsEntry> entries;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (variable.role != MTC_GRADIENT)
      continue;
    const MtcTensor &parameter = program.variables[variable.of].tensor;
    gradients.push_back(&variable);
    entries.push_back({parameter.name, variable.tensor.type, shapeOf(parameter)});
  }
  if (gradients.empty())
    userError("--gradients: this program trains no parameters");
  const int64_t step = state.step + 1;
  session.setScalars(step, 0, state.seed);
  session.run(Phase::Load, step, [&] { session.loadBatch(state, step, step); });
  const bool isApart = program.gradients.operation_count > 0;
  session.run(Phase::MicroStep, step,
              [&] { isApart ? session.device.gradients() : session.device.microStep(); });
  const double loss =
      session.loss(session.requestLoss(isApart ? program.gradients_loss : program.micro_step_loss));
  SafetensorsWriter writer(session.options.gradients, entries);
  std::vector<std::string> notFinite;
  for (size_t i = 0; i < gradients.size(); ++i) {
    bool finite = true;
    session.device.read(gradients[i]->tensor.offset, gradients[i]->tensor.bytes,
                        [&](const char *from, int64_t at, int64_t bytes) {
                          writer.write(i, at, from, bytes);
                          finite = finite && isFinite(entries[i].type, from, bytes);
                        });
    if (!finite)
      notFinite.push_back(entries[i].name);
  }
  writer.commit();
  warnOfGradients(loss, notFinite);
  if (!session.options.quiet)
    print("loss %.9g; %zu gradients in %s\n", loss, gradients.size(),
          session.options.gradients.c_str());
}

} // namespace mtc::runtime
