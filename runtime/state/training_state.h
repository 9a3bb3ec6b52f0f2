// How far training has come, and what the steps that follow depend on.
#ifndef MTC_RUNTIME_STATE_TRAINING_STATE_H
#define MTC_RUNTIME_STATE_TRAINING_STATE_H

#include "runtime/data/last_batch.h"

#include <cstdint>

namespace mtc::runtime {

struct TrainingState {
  int64_t step = 0; ///< completed steps
  uint64_t seed = 0;
  bool shuffle = true;
  int64_t scheduleSteps = 0; ///< the step at which the learning rate's schedule ends
  LastBatch lastBatch = LastBatch::Wrap;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_TRAINING_STATE_H
