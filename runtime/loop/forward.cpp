// Batches of consecutive samples.
#include "runtime/loop/forward.h"

#include <algorithm>

namespace mtc::runtime {

/// Returns the samples [first, first + batch), with indices clamped to those before `end`. Empty if
/// `first` is not before `end`.
static Batch rowsFrom(int64_t first, int64_t batch, int64_t end) {
  Batch result;
  for (int64_t i = 0; first < end && i < batch; ++i)
    result.rows.push_back(std::min(first + i, end - 1));
  return result;
}

int64_t runForward(const Session &session, Dataset &data, int64_t first, int64_t end,
                   void (Device::*function)(), ForwardPhases phases) {
  const int64_t batch = data.batch(), step = first / batch + 1;
  session.run(phases.load, step, [&] {
    session.batches.load(data, rowsFrom(first, batch, end), rowsFrom(first + batch, batch, end));
  });
  session.run(phases.run, step, [&] { (session.device.*function)(); });
  return std::min(batch, end - first);
}

} // namespace mtc::runtime
