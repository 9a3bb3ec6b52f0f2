// Schedules of the learning rate.
#include "runtime/schedule.h"

#include <algorithm>
#include <cmath>

namespace mtc::runtime {

double learningRate(const MtcProgram &program, int64_t step, int64_t total) {
  if (step <= program.warmup)
    return program.learning_rate * static_cast<double>(step) / static_cast<double>(program.warmup);
  if (program.schedule == MTC_CONSTANT_RATE)
    return program.learning_rate;
  double done =
      static_cast<double>(step - program.warmup) / static_cast<double>(total - program.warmup);
  done = std::clamp(done, 0.0, 1.0);
  if (program.schedule == MTC_LINEAR_RATE)
    return program.learning_rate * (1 - done);
  constexpr double pi = 3.14159265358979323846;
  return program.learning_rate * 0.5 * (1 + std::cos(pi * done));
}

} // namespace mtc::runtime
