// Runs that only go forward: --evaluate and --outputs.
#ifndef MTC_RUNTIME_LOOP_EVALUATE_H
#define MTC_RUNTIME_LOOP_EVALUATE_H

#include "runtime/loop/session.h"

namespace mtc::runtime {

/// --evaluate: prints the loss over all rows, each taken once, and the accuracy where the program
/// counts it. Also a line of --metrics. Where only whole batches can be evaluated, says which rows
/// were left out.
void evaluate(const Session &session, const TrainingState &state);

/// --outputs: writes the graph's outputs for all rows in the order of the file; one value a step
/// for an output without rows.
void writeOutputs(const Session &session, const TrainingState &state);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_EVALUATE_H
