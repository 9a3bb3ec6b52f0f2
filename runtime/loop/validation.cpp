// The best validation and patience.
#include "runtime/loop/validation.h"

#include "runtime/loop/evaluation.h"
#include "runtime/state/averages.h"
#include "runtime/support/messages.h"

#include <chrono>

namespace mtc::runtime {

/// Returns the metric of --keep-best, that of the checkpoint, or the loss.
static BestMetric metricOf(const Session &session, const TrainingState &state) {
  const std::string &given = session.options.keepBest;
  const std::string &name = given.empty() ? state.validation.metric : given;
  const MetricKind *found = findMetric(session.program, name);
  return found ? BestMetric{found->name, found->isHigherBetter} : BestMetric{};
}

Validation::Validation(const Session &session, TrainingState &state)
    : session(session), state(state),
      best(state.validation, metricOf(session, state), session.options.earlyStop),
      sums(session.program, session.ranks) {}

bool Validation::isDue() const {
  if (state.step == 0 || isDone())
    return false;
  if (const int64_t every = session.options.validateEvery)
    return state.step % every == 0;
  return session.order->endsEpoch(state.step);
}

/// Evaluates the averages of the weights with --use-ema, otherwise the weights.
static std::optional<Evaluation> evaluateWeights(const Session &session, EvaluationSums &sums,
                                                 const TrainingState &state) {
  auto evaluate = [&] {
    return evaluateData(session, *session.validation, sums, state.step + 1, state.seed,
                        validationPhases);
  };
  if (!session.options.useEma)
    return evaluate();
  exchangeAverages(session.program, session.device);
  std::optional<Evaluation> found;
  try {
    found = evaluate();
  } catch (...) {
    // The weights of a single process may be saved after an error. With several ranks, the error
    // ends the run, and an exchange of divided variables would wait for ranks that have ended.
    if (session.ranks.count() == 1)
      exchangeAverages(session.program, session.device);
    throw;
  }
  exchangeAverages(session.program, session.device);
  return found;
}

std::optional<ValidationMetrics> Validation::run() {
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<Evaluation> found = evaluateWeights(session, sums, state);
  if (!found)
    return std::nullopt;
  for (const std::string &warning : found->warnings)
    warnOnce(warning);
  double value = found->loss;
  for (const auto &[name, each] : found->metrics)
    if (name == best.metricName())
      value = each;

  const bool isBest = best.record(state.step, value);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return ValidationMetrics{.step = state.step,
                           .loss = found->loss,
                           .metrics = found->metrics,
                           .samples = found->samples,
                           .seconds = taken.count(),
                           .isBest = isBest,
                           .confusion = found->confusion};
}

void Validation::warnOnce(const std::string &problem) {
  if (warnings.insert(problem).second)
    warn("validation after step ", state.step, ": ", problem);
}

} // namespace mtc::runtime
