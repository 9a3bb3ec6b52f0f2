// The training loop.
#ifndef MTC_RUNTIME_LOOP_TRAIN_H
#define MTC_RUNTIME_LOOP_TRAIN_H

#include "runtime/loop/session.h"

namespace mtc::runtime {

/// The step after which a run ends, by --steps or --epochs.
int64_t lastStep(const Options &options, const BatchOrder &order);

/// Trains from the state's step on and keeps the state up to date; saves checkpoints as the options
/// say. Ends the run, with everything saved, after a signal and when metrics cannot be written;
/// when it diverges, with the checkpoint before that, unless --on-nan says otherwise.
void train(const Session &session, TrainingState &state);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_TRAIN_H
