// Steps: load, micro-step, update, report, save.
#include "runtime/train.h"

#include "runtime/checkpoint.h"
#include "runtime/element_type.h"
#include "runtime/failure.h"
#include "runtime/metrics.h"
#include "runtime/progress.h"
#include "runtime/safetensors.h"
#include "runtime/schedule.h"
#include "runtime/stop_signal.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <optional>

namespace mtc::runtime {

int64_t lastStep(const MtcProgram &program, const Options &options, int64_t rows) {
  if (options.steps)
    return *options.steps;
  int64_t taken = 0;
  if (__builtin_mul_overflow(options.epochs.value_or(1), rows, &taken))
    userError("--epochs ", *options.epochs, ": more steps than can be counted");
  return taken / program.batch + (taken % program.batch != 0);
}

namespace {

/// One run of the loop.
class Training {
public:
  Training(const Session &session, TrainingState &state)
      : session(session), state(state),
        total(lastStep(session.program, session.options, session.data.rows())),
        progress(total, session.options.quiet) {
    if (!session.options.metrics.empty())
      metrics.emplace(session.options.metrics, state.step);
    if (!session.options.save.empty())
      checkpoints.emplace(session.options.save);
  }

  void run() {
    const Options &options = session.options;
    if (state.step >= total && !options.quiet)
      std::printf("step %lld is done already; --steps or --epochs say how far to go in all\n",
                  static_cast<long long>(state.step));
    StopSignal signal;
    while (state.step < total && !StopSignal::received()) {
      step();
      if (checkpoints && options.saveEvery && state.step % options.saveEvery == 0)
        save();
    }
    report(0);
    if (checkpoints)
      save();
    session.device.wait(); // What goes wrong in the last update counts too.
    progress.breakLine();
    if (const char *name = StopSignal::received(); name && state.step < total)
      std::fprintf(stderr, "%s: stopped after step %lld of %lld%s%s\n", name,
                   static_cast<long long>(state.step), static_cast<long long>(total),
                   checkpoints ? "; go on with --resume " : "; nothing was saved (no --save)",
                   checkpoints ? options.save.c_str() : "");
  }

private:
  using Clock = std::chrono::steady_clock;

  /// A step that was asked for and not reported yet.
  struct Pending {
    int64_t step, loss;
    double rate;
    Clock::time_point begin;
  };

  void step() {
    const int64_t number = state.step + 1;
    Pending pending = {number, 0, learningRate(session.program, number, total), Clock::now()};
    session.run(Phase::Load, number, [&] {
      session.setScalars(number, pending.rate, state.seed);
      session.loadBatch(state, number, total);
    });
    session.run(Phase::MicroStep, number, [&] {
      session.device.microStep();
      pending.loss = session.requestLoss(session.program.micro_step_loss);
    });
    session.run(Phase::Update, number, [&] { session.device.update(); });
    state.step = number;
    queue.push_back(pending);
    report(session.device.queuedSteps());
  }

  /// Reports all steps but the last `queued`.
  void report(int queued) {
    for (; queue.size() > static_cast<size_t>(queued); queue.pop_front()) {
      const Pending &pending = queue.front();
      const double loss = session.loss(pending.loss);
      const Clock::time_point now = Clock::now();
      // A device goes on with a step when it has done the one before.
      const double seconds =
          std::chrono::duration<double>(now - std::max(pending.begin, lastEnd)).count();
      lastEnd = now;
      if (metrics)
        metrics->write({pending.step, loss, pending.rate, seconds});
      progress.show(pending.step, loss, pending.rate, seconds);
      if (!std::isfinite(loss))
        warnOfLoss(pending.step, loss);
    }
  }

  void warnOfLoss(int64_t step, double loss) {
    if (warned)
      return;
    warned = true;
    progress.breakLine();
    std::fprintf(stderr,
                 "warning: the loss of step %lld is %f, and the weights are likely lost; a lower "
                 "--lr or a warm-up when "
                 "compiling may help\n",
                 static_cast<long long>(step), loss);
  }

  void save() {
    report(0);
    if (savedStep == state.step)
      return;
    session.run(Phase::Save, state.step,
                [&] { checkpoints->save(session.program, session.device, state); });
    savedStep = state.step;
  }

  const Session &session;
  TrainingState &state;
  int64_t total, savedStep = -1;
  Progress progress;
  std::optional<MetricsFile> metrics;
  std::optional<CheckpointFolder> checkpoints;
  std::deque<Pending> queue;
  Clock::time_point lastEnd{};
  bool warned = false;
};

} // namespace

void train(const Session &session, TrainingState &state) { Training(session, state).run(); }

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
  for (size_t i = 0; i < gradients.size(); ++i)
    session.device.read(
        gradients[i]->tensor.offset, gradients[i]->tensor.bytes,
        [&](const char *from, int64_t at, int64_t bytes) { writer.write(i, at, from, bytes); });
  writer.commit();
  if (!session.options.quiet)
    std::printf("loss %.9g; %zu gradients in %s\n", loss, gradients.size(),
                session.options.gradients.c_str());
}

} // namespace mtc::runtime
