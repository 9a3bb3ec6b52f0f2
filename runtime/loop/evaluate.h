// Runs without updates that execute only the forward pass: --evaluate and --outputs.
#ifndef MTC_RUNTIME_LOOP_EVALUATE_H
#define MTC_RUNTIME_LOOP_EVALUATE_H

#include "runtime/loop/session.h"

namespace mtc::runtime {

/// Implements --evaluate: prints the loss over all samples, each used once, and the accuracy if the
/// program computes it, and adds a line to --metrics. If only whole batches can be evaluated,
/// reports the samples that were left out.
void evaluate(const Session &session, const TrainingState &state);

/// Implements --outputs: writes the graph's outputs for all samples in file order; for an output
/// without a batch axis, one value per step.
void writeOutputs(const Session &session, const TrainingState &state);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_EVALUATE_H
