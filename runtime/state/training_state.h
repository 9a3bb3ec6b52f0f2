// The progress of training and the settings that later steps depend on.
#ifndef MTC_RUNTIME_STATE_TRAINING_STATE_H
#define MTC_RUNTIME_STATE_TRAINING_STATE_H

#include "runtime/data/last_batch.h"
#include "runtime/state/schedule_settings.h"
#include "runtime/state/validation_state.h"

#include <cstdint>
#include <optional>

namespace mtc::runtime {

struct TrainingState {
  int64_t step = 0; ///< completed steps
  uint64_t seed = 0;
  bool shuffle = true;
  int64_t scheduleSteps = 0; ///< last step of the learning rate schedule
  LastBatch lastBatch = LastBatch::Wrap;
  std::optional<ScheduleSettings> schedule; ///< set by flags; nullopt: the compiled schedule
  ValidationState validation;
};

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_TRAINING_STATE_H
