// The progress bar and the lines of losses.
#include "runtime/reports/progress.h"

#include "runtime/reports/standard_output.h"
#include "runtime/support/failure.h"
#include "support/terminal/progress_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <unistd.h>
#include <vector>

namespace mtc::runtime {

Progress::Progress() : line(STDOUT_FILENO) {}

void Progress::begin(const RunFacts &given) {
  facts = given;
  every = std::max<int64_t>((facts.totalSteps + 999) / 1000, 1);
  start = Clock::now();
}

/// Returns a number with at most six digits, such as "0.25", for the lines of losses.
static std::string number(const char *format, double value) {
  std::array<char, 32> digits;
  std::snprintf(digits.data(), digits.size(), format, value);
  return digits.data();
}

/// Prints "step 3/10  loss 0.5  lr 0.01  norm 0.25  skipped 2  8.1 ms". `skipped` counts all
/// skipped steps so far and is omitted if it is 0.
void Progress::printStep(const StepMetrics &metrics) const {
  print("step %lld/%lld  loss %.6g  lr %.6g", static_cast<long long>(metrics.step),
        static_cast<long long>(facts.totalSteps), metrics.loss, metrics.learningRate);
  if (metrics.gradientNorm)
    print("  norm %g", *metrics.gradientNorm);
  if (skipped)
    print("  skipped %lld", static_cast<long long>(skipped));
  print("  %.1f ms\n", metrics.seconds * 1e3);
  flushOutput();
}

void Progress::step(const StepMetrics &metrics) {
  constexpr double window = 5;
  skipped += metrics.skipped;
  measured += metrics.seconds;
  const double weight = last ? 1 - std::exp(-metrics.seconds / window) : 1;
  // The weight of early steps is that of a mean.
  const double minimum = 1 / static_cast<double>(metrics.step - facts.firstStep);
  smoothSeconds += (metrics.seconds - smoothSeconds) * std::max(weight, minimum);
  last = metrics;
  if (line.isActive()) {
    if (Clock::now() - lastDrawn >= std::chrono::milliseconds(100))
      draw();
  } else if (metrics.step % every == 0 || metrics.step == facts.totalSteps || metrics.step == 1) {
    printStep(metrics);
  }
}

void Progress::validation(const ValidationMetrics &metrics) {
  lastValidation = metrics;
  terminal::StatusLine::clear();
  print("validation %lld/%lld  loss %.6g", static_cast<long long>(metrics.step),
        static_cast<long long>(facts.totalSteps), metrics.loss);
  for (const auto &[name, value] : metrics.metrics)
    print("  %s %.6g", name.c_str(), value);
  print("  samples %lld  %.1f ms%s\n", static_cast<long long>(metrics.samples),
        metrics.seconds * 1e3, metrics.isBest ? "  best" : "");
  flushOutput();
  if (last)
    draw();
}

/// Estimates the time to the end of the run. Time between steps, for validations and checkpoints,
/// is assumed to grow with the steps.
double Progress::secondsLeft(double elapsed) const {
  const double overhead = measured > 0 ? std::max(elapsed / measured, 1.0) : 1;
  return static_cast<double>(facts.totalSteps - last->step) * smoothSeconds * overhead;
}

void Progress::draw() {
  if (!line.isActive())
    return;
  using terminal::Part;
  lastDrawn = Clock::now();
  const double elapsed = std::chrono::duration<double>(lastDrawn - start).count();
  const double perSecond =
      smoothSeconds > 0 ? static_cast<double>(facts.samplesPerStep) / smoothSeconds : 0;
  const int64_t epochs = facts.epochOf(facts.totalSteps);
  std::vector<Part> parts = {
      {text(100 * last->step / std::max<int64_t>(facts.totalSteps, 1), "%"), 7},
      {epochs > 1 ? text("epoch ", facts.epochOf(last->step), "/", epochs) : "", 6},
      {terminal::durationText(elapsed) +
           (hasEnded ? "" : " < " + terminal::durationText(secondsLeft(elapsed))),
       1},
      {"loss " + number("%.4g", last->loss), 0}};
  if (lastValidation) {
    parts.push_back({"val loss " + number("%.4g", lastValidation->loss), 3});
    for (const auto &[name, value] : lastValidation->metrics)
      parts.push_back({"val " + name + " " + number("%.4g", value), 10});
  }
  parts.push_back({"lr " + number("%.3g", last->learningRate), 5});
  if (last->gradientNorm)
    parts.push_back({"norm " + number("%.3g", *last->gradientNorm), 8});
  if (skipped)
    parts.push_back({text("skipped ", skipped), 8});
  if (perSecond > 0)
    parts.push_back({terminal::countText(perSecond) + " samples/s", 4});
  if (perSecond > 0 && facts.tokensPerSample)
    parts.push_back(
        {terminal::countText(perSecond * static_cast<double>(*facts.tokensPerSample)) + " tokens/s",
         4});
  parts.push_back({terminal::bytesText(static_cast<double>(facts.plannedBytes)), 9});
  const double fraction = static_cast<double>(last->step) / static_cast<double>(facts.totalSteps);
  line.draw(terminal::progressText(text("step ", last->step, "/", facts.totalSteps), fraction,
                                   parts, line.columns()));
}

void Progress::end(const RunEnding &) {
  hasEnded = true;
  if (last)
    draw();
  line.keep();
}

} // namespace mtc::runtime
