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

#include <cmath>
#include <cstdio>
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
    if (checkpoints)
      save();
    progress.breakLine();
    if (const char *name = StopSignal::received(); name && state.step < total)
      std::fprintf(stderr, "%s: stopped after step %lld of %lld%s%s\n", name,
                   static_cast<long long>(state.step), static_cast<long long>(total),
                   checkpoints ? "; go on with --resume " : "; nothing was saved (no --save)",
                   checkpoints ? options.save.c_str() : "");
  }

private:
  void step() {
    int64_t number = state.step + 1;
    double rate = learningRate(session.program, number, total), loss = 0;
    double seconds = session.run(Phase::Load, number, [&] {
      session.setScalars(number, rate, state.seed);
      session.loadBatch(state, number, total);
    });
    seconds += session.run(Phase::MicroStep, number, [&] {
      session.executor.microStep();
      loss = session.loss(session.program.micro_step_loss);
    });
    seconds += session.run(Phase::Update, number, [&] { session.executor.update(); });
    state.step = number;
    if (metrics)
      metrics->write({number, loss, rate, seconds});
    progress.show(number, loss, rate, seconds);
    if (!std::isfinite(loss))
      warnOfLoss(loss);
  }

  void warnOfLoss(double loss) {
    if (warned)
      return;
    warned = true;
    progress.breakLine();
    std::fprintf(stderr,
                 "warning: the loss of step %lld is %f, and the weights are likely lost; a lower "
                 "--lr or a warm-up when "
                 "compiling may help\n",
                 static_cast<long long>(state.step), loss);
  }

  void save() {
    if (savedStep == state.step)
      return;
    session.run(Phase::Save, state.step,
                [&] { checkpoints->save(session.program, session.arena.data(), state); });
    savedStep = state.step;
  }

  const Session &session;
  TrainingState &state;
  int64_t total, savedStep = -1;
  Progress progress;
  std::optional<MetricsFile> metrics;
  std::optional<CheckpointFolder> checkpoints;
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
              [&] { isApart ? session.executor.gradients() : session.executor.microStep(); });
  SafetensorsWriter writer(session.options.gradients, entries);
  for (size_t i = 0; i < gradients.size(); ++i)
    writer.write(i, 0, session.arena.at(gradients[i]->tensor.offset), gradients[i]->tensor.bytes);
  writer.commit();
  if (!session.options.quiet)
    std::printf("loss %.9g; %zu gradients in %s\n",
                session.loss(isApart ? program.gradients_loss : program.micro_step_loss),
                gradients.size(), session.options.gradients.c_str());
}

} // namespace mtc::runtime
