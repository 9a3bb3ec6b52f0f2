// Batches are computed in rounds: each rank computes one, then rank 0 receives the results.
#include "runtime/loop/forward.h"

#include "runtime/loop/stop_signal.h"
#include "runtime/loop/task_list.h"

#include <optional>

namespace mtc::runtime {

/// Loads a batch of this rank and runs a forward pass of its shape. Returns the shape's tables.
static const MtcProgram &compute(const Session &session, Dataset &data,
                                 const ForwardBatches &batches, int64_t round,
                                 const ForwardPass &pass, ForwardPhases phases) {
  const int64_t number = batches.computedIn(round), step = number + 1;
  auto &[batch, next] = session.batches.lists;
  auto load = [&] {
    batches.samplesOf(number, batch);
    next.rows.clear();
    if (round + 1 < batches.rounds())
      batches.samplesOf(batches.computedIn(round + 1), next);
    session.batches.load(data, batch, next);
  };
  const MtcTaskList &list = session.program.*pass.tasks;
  for (uint32_t i = 0; i < list.count; ++i)
    if (list.tasks[i].kind == MTC_LOAD_TASK)
      session.run(phases.load, step, load);
    else
      runTask(session, list.tasks[i], phases.run, step);
  if (list.count)
    return session.program;
  session.run(phases.load, step, load);
  const MtcProgram &shaped = data.tablesOf(batch);
  session.run(phases.run, step, [&] { session.device.run(shaped.*pass.functions); });
  return shaped;
}

bool runForward(const Session &session, Dataset &data, const ForwardBatches &batches,
                const ForwardPass &pass, const MoveResult &move, ForwardPhases phases) {
  Ranks &ranks = session.ranks;
  bool isStopped = false;
  for (int64_t round = 0; round < batches.rounds() && !isStopped; ++round) {
    ranks.setBatch(batches.computedIn(round) + 1);
    const MtcProgram &shaped = compute(session, data, batches, round, pass, phases);
    session.device.wait(); // A signal during the computation discards its result.
    isStopped = StopSignal::agree(ranks, "agreement on the next batch");
    for (int data = 0; data < ranks.dataCount() && !isStopped; ++data)
      if (const std::optional<int64_t> number = batches.batchOf(round, data))
        move(ranks.senderOf(data), *number, shaped);
  }
  ranks.setBatch(0);
  return !isStopped;
}

} // namespace mtc::runtime
