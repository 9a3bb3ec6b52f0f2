// The progress of training and the settings that later steps depend on.
#ifndef MTC_RUNTIME_STATE_TRAINING_STATE_H
#define MTC_RUNTIME_STATE_TRAINING_STATE_H

#include "runtime/abi/program.h"
#include "runtime/data/augmentation.h"
#include "runtime/data/batch_order.h"
#include "runtime/data/last_batch.h"
#include "runtime/data/normalization.h"
#include "runtime/state/schedule_settings.h"
#include "runtime/state/settings.h"
#include "runtime/state/validation_state.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace mtc::runtime {

/// Steps of a program with another batch: those up to `lastStep`, after the ones of the entry
/// before.
struct EarlierSteps {
  int64_t lastStep = 0, batch = 1, microSteps = 1;
  int64_t samples = 0;       ///< per step; 0: the batch times the micro-steps
  int64_t stepsPerEpoch = 0; ///< if rows were grouped by length; otherwise 0
};

struct TrainingState {
  int64_t step = 0; ///< completed steps
  uint64_t seed = 0;
  bool shuffle = true;
  bool isGrouped = false;     ///< batches have rows of similar lengths
  int64_t samplesPerStep = 0; ///< 0: the batch times the micro-steps
  int64_t stepsPerEpoch = 0;  ///< if rows are grouped; otherwise 0
  int64_t scheduleSteps = 0;  ///< last step of the learning rate schedule
  LastBatch lastBatch = LastBatch::Wrap;
  std::optional<ScheduleSettings> schedule; ///< set by flags; nullopt: the compiled schedule
  Settings settings;                        ///< set by flags
  Normalizations normalizations;            ///< of the inputs, by name
  Augmentations augmentations;              ///< of the inputs, by name
  std::vector<std::string> classes; ///< of image folders, by index; none if no folder is read
  std::string sampling;             ///< description of the weighted sampler; "" if there is none
  ValidationState validation;
  std::vector<EarlierSteps> earlier; ///< steps before the run was resumed with another batch
};

/// Returns the position in data of `rows` rows after the earlier steps. `samplesOf` returns the
/// samples of a step with a batch. The next epoch follows an epoch of grouped rows that was not
/// complete.
BatchOrigin originOf(const TrainingState &state, int64_t rows,
                     const std::function<int64_t(const EarlierSteps &)> &samplesOf);

/// Describes data with which an epoch has another number of steps than in the checkpoint's run,
/// which grouped its samples by length; 0: the samples are not grouped.
std::string describeOtherEpoch(int64_t stepsOfCheckpoint, int64_t steps);

/// Returns the number of micro-steps that trained the model.
int64_t trainedBatches(const MtcProgram &program, const TrainingState &state);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_TRAINING_STATE_H
