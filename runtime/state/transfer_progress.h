// Progress of reading and writing weights, on the terminal.
#ifndef MTC_RUNTIME_STATE_TRANSFER_PROGRESS_H
#define MTC_RUNTIME_STATE_TRANSFER_PROGRESS_H

#include "support/terminal/status_line.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace mtc::runtime {

/// Shows `LABEL  BAR  42%  0:03 < 0:04  5.1 GiB/s` while the object lives, after half a second, if
/// standard output is a terminal.
class TransferProgress {
public:
  TransferProgress(std::string label, int64_t totalBytes, bool isQuiet);

  void add(int64_t bytes);

private:
  using Clock = std::chrono::steady_clock;
  void draw(double seconds);

  std::string label;
  int64_t total, done = 0;
  Clock::time_point start = Clock::now(), drawn = start;
  std::optional<terminal::StatusLine> line;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_TRANSFER_PROGRESS_H
