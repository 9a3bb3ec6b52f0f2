// The progress bar and the lines of losses.
#include "runtime/reports/progress.h"

#include "runtime/reports/standard_output.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <array>
#include <unistd.h>

namespace mtc::runtime {

Progress::Progress(int64_t total, bool quiet)
    : total(total), every((total + 999) / 1000), quiet(quiet), terminal(isatty(STDOUT_FILENO)) {}

Progress::~Progress() { breakLine(); }

void Progress::breakLine() {
  if (lineOpen)
    print("\n");
  lineOpen = false;
  flushOutput();
}

/// Prints "  norm 0.25  skipped 2  8.1 ms": the optional metrics other than the loss. `skipped`
/// counts all skipped steps so far and is omitted if it is 0.
void Progress::printMore(const StepMetrics &metrics) const {
  if (metrics.gradientNorm)
    print("  norm %g", *metrics.gradientNorm);
  if (skipped)
    print("  skipped %lld", static_cast<long long>(skipped));
  print("  %.1f ms", metrics.seconds * 1e3);
}

void Progress::show(const StepMetrics &metrics) {
  if (quiet)
    return;
  const int64_t step = metrics.step;
  skipped += metrics.skipped;
  if (!terminal) {
    if (step % every == 0 || step == total || step == 1) {
      print("step %lld/%lld  loss %.6g  lr %.6g", static_cast<long long>(step),
            static_cast<long long>(total), metrics.loss, metrics.learningRate);
      printMore(metrics);
      print("\n");
      flushOutput();
    }
    return;
  }
  auto now = std::chrono::steady_clock::now();
  if (step != total && now - lastDrawn < std::chrono::milliseconds(100))
    return;
  lastDrawn = now;
  constexpr int64_t width = 30;
  int64_t filled = total > 0 ? std::min(width, width * step / total) : width;
  std::array<char, width + 1> bar{};
  std::fill(std::fill_n(bar.begin(), filled, '#'), bar.end() - 1, '.');
  print("\r[%s] %lld/%lld  loss %.6g  lr %.3g", bar.data(), static_cast<long long>(step),
        static_cast<long long>(total), metrics.loss, metrics.learningRate);
  printMore(metrics);
  print("\x1b[K");
  flushOutput();
  lineOpen = true;
}

} // namespace mtc::runtime
