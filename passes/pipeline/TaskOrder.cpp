//===- TaskOrder.cpp - Order of the tasks of pipeline stages ----------------------------------===//

#include "passes/pipeline/TaskOrder.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

using namespace mtc;

namespace {

constexpr int64_t never = std::numeric_limits<int64_t>::max();

/// Simulates the stages, each of which chooses its next task when it has ended one.
class Simulation {
public:
  Simulation(const std::vector<PipelineChunk> &chunks, const std::vector<PipelineMessage> &messages,
             int64_t micros, bool groupsMicros)
      : chunks(chunks), messages(messages), micros(micros), groupsMicros(groupsMicros),
        states(chunks.size()) {
    int64_t stages = 0;
    for (const PipelineChunk &chunk : chunks)
      stages = std::max(stages, chunk.stage + 1);
    free.resize(static_cast<size_t>(stages));
    order.stages.resize(static_cast<size_t>(stages));
    for (size_t i = 0; i < messages.size(); ++i) {
      const PipelineMessage &message = messages[i];
      states[static_cast<size_t>(message.to)].incoming[message.isBackward].push_back(i);
    }
  }

  TaskOrder run() {
    while (true) {
      // The stage that can start a task first runs next, so that times ascend.
      std::optional<Candidate> best;
      for (size_t stage = 0; stage < free.size(); ++stage)
        if (std::optional<Candidate> found = chooseFor(static_cast<int64_t>(stage));
            found && (!best || found->start < best->start))
          best = found;
      if (!best)
        return std::move(order);
      start(*best);
    }
  }

private:
  struct ChunkState {
    int64_t next[2] = {0, 0};        ///< first micro-step whose part has not started
    std::vector<int64_t> ends[2];    ///< of the parts that have started
    std::vector<size_t> incoming[2]; ///< messages, by whether they are backward
  };
  struct Candidate {
    PipelineTask task;
    int64_t start;
  };

  bool hasBackward(int64_t chunk) const { return chunks[static_cast<size_t>(chunk)].hasBackward; }

  /// Returns when a part of a chunk has ended for a micro-step; `never` if it has not started.
  int64_t endOf(int64_t chunk, bool isBackward, int64_t micro) const {
    const auto &ends = states[static_cast<size_t>(chunk)].ends[isBackward && hasBackward(chunk)];
    return micro < static_cast<int64_t>(ends.size()) ? ends[static_cast<size_t>(micro)] : never;
  }

  /// Returns when a part can start; `never` if it waits for a part that has not started.
  int64_t readyTime(const PipelineTask &task) const {
    const ChunkState &state = states[static_cast<size_t>(task.chunk)];
    const int64_t slots = chunks[static_cast<size_t>(task.chunk)].slots;
    int64_t ready = 0;
    auto after = [&](int64_t end) { ready = std::max(ready, end); };
    if (task.isBackward)
      after(endOf(task.chunk, false, task.micro));
    else if (task.micro >= slots)
      after(endOf(task.chunk, true, task.micro - slots));
    for (size_t i : state.incoming[task.isBackward]) {
      const PipelineMessage &message = messages[i];
      const int64_t sent = endOf(message.from, message.isBackward, task.micro);
      after(sent == never ? never : sent + message.picoseconds);
    }
    return ready;
  }

  /// Returns the task that a stage runs next, among those that are ready when it is free, or else
  /// the one that is ready first.
  std::optional<Candidate> chooseFor(int64_t stage) const {
    std::optional<Candidate> best;
    auto isBetter = [&](const Candidate &candidate) {
      if (!best || candidate.start != best->start)
        return !best || candidate.start < best->start;
      if (candidate.task.isBackward != best->task.isBackward)
        return candidate.task.isBackward;
      const PipelineTask &a = candidate.task, &b = best->task;
      // As many micro-steps as stages pass through a chunk before the next one.
      const auto stages = static_cast<int64_t>(free.size());
      if (groupsMicros && a.micro / stages != b.micro / stages)
        return a.micro / stages < b.micro / stages;
      if (groupsMicros)
        return a.isBackward ? a.chunk > b.chunk : a.chunk < b.chunk;
      if (a.isBackward && a.micro != b.micro)
        return a.micro < b.micro;
      return a.chunk > b.chunk;
    };
    for (size_t i = 0; i < chunks.size(); ++i) {
      if (chunks[i].stage != stage)
        continue;
      const auto chunk = static_cast<int64_t>(i);
      for (bool isBackward : {true, false}) {
        if (isBackward && !hasBackward(chunk))
          continue;
        const PipelineTask task{chunk, states[i].next[isBackward], isBackward};
        if (task.micro == micros)
          continue;
        const int64_t ready = readyTime(task);
        if (ready == never)
          continue;
        const Candidate candidate{task, std::max(ready, free[static_cast<size_t>(stage)])};
        if (isBetter(candidate))
          best = candidate;
      }
    }
    return best;
  }

  void start(const Candidate &candidate) {
    const PipelineTask &task = candidate.task;
    const PipelineChunk &chunk = chunks[static_cast<size_t>(task.chunk)];
    ChunkState &state = states[static_cast<size_t>(task.chunk)];
    int64_t duration = task.isBackward ? chunk.backward : chunk.forward;
    if (!chunk.hasBackward)
      duration += chunk.backward;
    const int64_t end = candidate.start + duration;
    ++state.next[task.isBackward];
    state.ends[task.isBackward].push_back(end);
    free[static_cast<size_t>(chunk.stage)] = end;
    order.stages[static_cast<size_t>(chunk.stage)].push_back(task);
    order.picoseconds = std::max(order.picoseconds, end);
  }

  const std::vector<PipelineChunk> &chunks;
  const std::vector<PipelineMessage> &messages;
  const int64_t micros;
  const bool groupsMicros;
  std::vector<ChunkState> states; ///< by chunk
  std::vector<int64_t> free;      ///< by stage: when its last task ends
  TaskOrder order;
};

} // namespace

TaskOrder mtc::orderTasks(const std::vector<PipelineChunk> &chunks,
                          const std::vector<PipelineMessage> &messages, int64_t micros) {
  TaskOrder deep = Simulation(chunks, messages, micros, /*groupsMicros=*/false).run(),
            wide = Simulation(chunks, messages, micros, /*groupsMicros=*/true).run();
  return wide.picoseconds < deep.picoseconds ? std::move(wide) : std::move(deep);
}

void mtc::chooseSlots(std::vector<PipelineChunk> &chunks,
                      const std::vector<PipelineMessage> &messages, int64_t micros) {
  const auto count = static_cast<int64_t>(chunks.size());
  int64_t stages = 0;
  for (const PipelineChunk &chunk : chunks)
    stages = std::max(stages, chunk.stage + 1);
  const int64_t perStage = std::max<int64_t>(1, count / std::max<int64_t>(stages, 1));
  // In a steady state, a micro-step spends the time of all later chunks between its forward and its
  // backward part, and a stage needs the time of its chunks for each micro-step (Little's law).
  auto setSlots = [&](int64_t additional) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t needed = (count - i + perStage - 1) / perStage + additional;
      // The next micro-step is received while a chunk with one part computes.
      PipelineChunk &chunk = chunks[static_cast<size_t>(i)];
      chunk.slots = std::min(micros, chunk.hasBackward ? std::max<int64_t>(needed, 1) : 2);
    }
  };
  setSlots(micros);
  const int64_t shortest = orderTasks(chunks, messages, micros).picoseconds;
  for (int64_t additional = 0; additional < micros; ++additional) {
    setSlots(additional);
    if (orderTasks(chunks, messages, micros).picoseconds <= shortest + shortest / 100)
      return;
  }
}
