// The order of a run's batches, which depends on its flags, its data and its checkpoint.
#ifndef MTC_RUNTIME_LOOP_BATCH_CHOICE_H
#define MTC_RUNTIME_LOOP_BATCH_CHOICE_H

#include "runtime/data/batch_order.h"
#include "runtime/data/dataset.h"
#include "runtime/loop/options.h"
#include "runtime/state/training_state.h"

#include <memory>
#include <string>

namespace mtc::runtime {

/// Decides whether rows are grouped by length and what happens to the last batch of an epoch,
/// unless flags or the checkpoint of the state say so, and stores it in the state. Throws a user
/// error if flags fit neither the program, the data nor the checkpoint.
void chooseBatches(const MtcProgram &program, const Options &options, bool isResumed,
                   const Dataset &data, TrainingState &state);

/// Returns the order of samples in batches. `data` outlives it.
std::unique_ptr<const BatchOrder> orderOf(const Dataset &data, const TrainingState &state);

/// Returns a one-line note on samples that are used twice or not at all in `steps` steps; "" if
/// there are none.
std::string describeUnevenUse(const MtcProgram &program, const Dataset &data,
                              const TrainingState &state, int64_t steps);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_BATCH_CHOICE_H
