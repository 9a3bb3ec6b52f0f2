// The learning rate of each step.
#ifndef MTC_RUNTIME_SCHEDULE_H
#define MTC_RUNTIME_SCHEDULE_H

#include "runtime/abi/program.h"

#include <cstdint>

namespace mtc::runtime {

/// The rate of step `step` (from 1) in a run of `total`. It rises linearly from
/// learning_rate/warmup to learning_rate in the first `warmup` steps; then it is constant, or falls
/// on a line or half a cosine wave to 0 at the last step.
double learningRate(const MtcProgram &program, int64_t step, int64_t total);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SCHEDULE_H
