#include "runtime/state/transfer_progress.h"

#include "runtime/support/failure.h"
#include "support/terminal/progress_bar.h"

#include <algorithm>
#include <unistd.h>
#include <utility>

namespace mtc::runtime {

TransferProgress::TransferProgress(std::string label, int64_t totalBytes, bool isQuiet)
    : label(std::move(label)), total(std::max<int64_t>(totalBytes, 1)) {
  if (!isQuiet)
    line.emplace(STDOUT_FILENO);
}

void TransferProgress::add(int64_t bytes) {
  done += bytes;
  if (!line || !line->isActive())
    return;
  const Clock::time_point now = Clock::now();
  if (now - start < std::chrono::milliseconds(500) || now - drawn < std::chrono::milliseconds(100))
    return;
  drawn = now;
  draw(std::chrono::duration<double>(now - start).count());
}

void TransferProgress::draw(double seconds) {
  const double fraction = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const double left = fraction > 0 ? seconds * (1 - fraction) / fraction : 0;
  line->draw(terminal::progressText(
      label, fraction,
      {{text(static_cast<int>(100 * fraction), "%"), 0},
       {terminal::durationText(seconds) + " < " + terminal::durationText(left), 1},
       {terminal::bytesText(static_cast<double>(done) / seconds) + "/s", 3}},
      line->columns()));
}

} // namespace mtc::runtime
