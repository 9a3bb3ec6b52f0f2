// Comparison of validations.
#include "runtime/state/best_validation.h"

#include "runtime/support/messages.h"

#include <cmath>
#include <utility>

namespace mtc::runtime {

BestValidation::BestValidation(ValidationState &history, BestMetric given, int64_t patience)
    : history(history), metric(std::move(given)), patience(patience) {
  if (!history.metric.empty() && history.metric != metric.name) {
    warn("--keep-best ", metric.name, ": the checkpoint's run kept the best ", history.metric,
         "; earlier validations are not compared with later ones");
    history = {.step = history.step, .metric = {}, .best = {}, .bestStep = 0, .sinceBest = 0};
  }
  history.metric = metric.name;
}

bool BestValidation::record(int64_t step, double value) {
  history.step = step;
  const bool isBest =
      std::isfinite(value) &&
      (!history.best || (metric.isHigherBetter ? value > *history.best : value < *history.best));
  if (isBest)
    history = {
        .step = step, .metric = metric.name, .best = value, .bestStep = step, .sinceBest = 0};
  else
    ++history.sinceBest;
  return isBest;
}

std::string BestValidation::describeStop() const {
  const std::string start = text("no better validation ", metric.name, " in ", history.sinceBest,
                                 history.sinceBest == 1 ? " validation" : " validations");
  return history.best
             ? text(start, "; the best, ", *history.best, ", is of step ", history.bestStep)
             : start + "; none was a number";
}

std::string BestValidation::describe() const {
  return history.best ? text("best validation ", metric.name, " ", *history.best, " at step ",
                             history.bestStep)
                      : "";
}

} // namespace mtc::runtime
