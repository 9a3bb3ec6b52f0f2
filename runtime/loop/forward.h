// Forward passes over a data set in file order.
#ifndef MTC_RUNTIME_LOOP_FORWARD_H
#define MTC_RUNTIME_LOOP_FORWARD_H

#include "runtime/loop/forward_batches.h"
#include "runtime/loop/session.h"

#include <functional>

namespace mtc::runtime {

/// The phases of a forward pass for observers.
struct ForwardPhases {
  Phase load, run;
};
inline constexpr ForwardPhases evaluationPhases = {Phase::Load, Phase::Evaluate};
inline constexpr ForwardPhases validationPhases = {Phase::LoadValidation, Phase::Validate};

/// Moves the result of batch `number` from the device of rank `rank`, which has computed it, to
/// rank 0. `shaped` has the tables of the shape of this rank's last batch.
using MoveResult = std::function<void(int rank, int64_t number, const MtcProgram &shaped)>;

/// A forward pass of a program: functions of a shape, or, in a program with pipeline stages, tasks.
struct ForwardPass {
  MtcSequence MtcProgram::*functions;
  MtcTaskList MtcProgram::*tasks;
};
inline constexpr ForwardPass evaluationPass = {&MtcProgram::evaluate, &MtcProgram::evaluate_tasks};
inline constexpr ForwardPass outputsPass = {&MtcProgram::compute_outputs,
                                            &MtcProgram::outputs_tasks};

/// Runs a forward pass on each batch of `data` on the batch's ranks, and prefetches the following
/// batch. Every rank calls `move` for each batch, in file order. Returns false if a signal
/// (StopSignal) arrives on any rank before the end. All ranks must call it.
bool runForward(const Session &session, Dataset &data, const ForwardBatches &batches,
                const ForwardPass &pass, const MoveResult &move,
                ForwardPhases phases = evaluationPhases);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_FORWARD_H
