// The training loop.
#ifndef MTC_RUNTIME_LOOP_TRAIN_H
#define MTC_RUNTIME_LOOP_TRAIN_H

#include "runtime/loop/session.h"

namespace mtc::runtime {

/// Returns the last step of a run, from --steps or --epochs.
int64_t lastStep(const Options &options, const BatchOrder &order);

/// Trains from the given state on, updates the state and saves checkpoints according to the
/// options. After a signal, or when metrics cannot be written, saves everything and ends the run.
/// On divergence, ends the run and keeps the previous checkpoint, unless --on-nan specifies
/// otherwise.
void train(const Session &session, TrainingState &state);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_TRAIN_H
