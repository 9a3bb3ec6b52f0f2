// The progress bar and the lines of losses.
#include "runtime/reports/progress.h"

#include "runtime/support/failure.h"
#include "support/terminal/progress_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace mtc::runtime {

Progress::Progress(std::unique_ptr<ProgressOutput> output) : output(std::move(output)) {}

void Progress::begin(const RunFacts &given) {
  facts = given;
  every = std::max<int64_t>((facts.totalSteps + 999) / 1000, 1);
  start = Clock::now();
}

/// Returns a number in a format of printf.
static std::string number(const char *format, double value) {
  std::array<char, 32> digits;
  std::snprintf(digits.data(), digits.size(), format, value);
  return digits.data();
}

/// Returns "3/10", or "3" if the number of steps is not known.
static std::string countOf(int64_t step, const RunFacts &facts) {
  return facts.totalSteps ? text(step, "/", facts.totalSteps) : text(step);
}

/// Appends values in formats of printf.
template <typename... Values>
static void append(std::string &line, const char *format, Values... values) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), format, values...);
  line += text.data();
}

/// Prints "step 3/10  loss 0.5  lr 0.01  norm 0.25  skipped 2  8.1 ms". `skipped` counts all
/// skipped steps so far and is omitted if it is 0. Reuses the memory of the line, since a step
/// allocates nothing.
void Progress::printStep(const StepMetrics &metrics) {
  line.clear();
  append(line, "step %lld", static_cast<long long>(metrics.step));
  if (facts.totalSteps)
    append(line, "/%lld", static_cast<long long>(facts.totalSteps));
  append(line, "  loss %.6g", metrics.loss);
  append(line, "  lr %.6g", metrics.learningRate);
  if (metrics.gradientNorm)
    append(line, "  norm %g", *metrics.gradientNorm);
  if (skipped)
    append(line, "  skipped %lld", static_cast<long long>(skipped));
  append(line, "  %.1f ms", metrics.seconds * 1e3);
  output->print(line);
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
  if (output->columns() > 0) {
    if (Clock::now() - lastDrawn >= std::chrono::milliseconds(100))
      draw();
  } else if (metrics.step % every == 0 || metrics.step == facts.totalSteps || metrics.step == 1) {
    printStep(metrics);
  }
}

void Progress::validation(const ValidationMetrics &metrics) {
  lastValidation = metrics;
  std::string line =
      text("validation ", countOf(metrics.step, facts), "  loss ", number("%.6g", metrics.loss));
  for (const auto &[name, value] : metrics.metrics)
    line += "  " + name + " " + number("%.6g", value);
  output->print(text(line, "  samples ", metrics.samples, "  ",
                     number("%.1f ms", metrics.seconds * 1e3), metrics.isBest ? "  best" : ""));
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
  const int columns = output->columns();
  if (columns <= 0)
    return;
  using terminal::Part;
  lastDrawn = Clock::now();
  const double elapsed = std::chrono::duration<double>(lastDrawn - start).count();
  const double perSecond =
      smoothSeconds > 0 ? static_cast<double>(facts.samplesPerStep) / smoothSeconds : 0;
  const int64_t epochs = facts.epochOf(facts.totalSteps);
  const bool hasLeft = facts.totalSteps && !hasEnded;
  std::vector<Part> parts = {
      {facts.totalSteps ? text(100 * last->step / facts.totalSteps, "%") : "", 7},
      {epochs > 1 ? text("epoch ", facts.epochOf(last->step), "/", epochs) : "", 6},
      {terminal::durationText(elapsed) +
           (hasLeft ? " < " + terminal::durationText(secondsLeft(elapsed)) : ""),
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
  std::optional<double> fraction;
  if (facts.totalSteps)
    fraction = static_cast<double>(last->step) / static_cast<double>(facts.totalSteps);
  output->draw(
      terminal::progressText("step " + countOf(last->step, facts), fraction, parts, columns));
}

void Progress::end(const RunEnding &) {
  hasEnded = true;
  if (last)
    draw();
  output->keep();
}

} // namespace mtc::runtime
