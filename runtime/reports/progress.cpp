// The bar and the lines.
#include "runtime/reports/progress.h"

#include "runtime/reports/standard_output.h"
#include "runtime/support/failure.h"

#include <algorithm>
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

/// "  norm 0.25  skipped 2": what is known beside the loss, and how many steps were skipped so far,
/// if any.
std::string Progress::describeMore(const StepMetrics &metrics) const {
  return (metrics.gradientNorm ? text("  norm ", *metrics.gradientNorm) : "") +
         (skipped ? text("  skipped ", skipped) : "");
}

void Progress::show(const StepMetrics &metrics) {
  if (quiet)
    return;
  const int64_t step = metrics.step;
  skipped += metrics.skipped;
  const std::string more = describeMore(metrics);
  if (!terminal) {
    if (step % every == 0 || step == total || step == 1) {
      print("step %lld/%lld  loss %.6g  lr %.6g%s  %.1f ms\n", static_cast<long long>(step),
            static_cast<long long>(total), metrics.loss, metrics.learningRate, more.c_str(),
            metrics.seconds * 1e3);
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
  std::string bar = std::string(static_cast<size_t>(filled), '#') +
                    std::string(static_cast<size_t>(width - filled), '.');
  print("\r[%s] %lld/%lld  loss %.6g  lr %.3g%s  %.1f ms\x1b[K", bar.c_str(),
        static_cast<long long>(step), static_cast<long long>(total), metrics.loss,
        metrics.learningRate, more.c_str(), metrics.seconds * 1e3);
  flushOutput();
  lineOpen = true;
}

} // namespace mtc::runtime
