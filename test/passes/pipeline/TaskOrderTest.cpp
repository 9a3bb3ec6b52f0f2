// Orders of tasks of pipeline stages, against known schedules and bubbles.
#include "passes/pipeline/TaskOrder.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

using namespace mtc;

namespace {

struct Pipeline {
  std::vector<PipelineChunk> chunks;
  std::vector<PipelineMessage> messages;
};

/// A chain of chunks on stages in turn, of which a backward part takes twice as long as a forward
/// part.
Pipeline chain(int64_t stages, int64_t perStage, int64_t forward) {
  Pipeline pipeline;
  const int64_t count = stages * perStage;
  for (int64_t i = 0; i < count; ++i) {
    pipeline.chunks.push_back({i % stages, forward, 2 * forward, i + 1 < count, 1});
    if (i > 0) {
      pipeline.messages.push_back({i - 1, i, false, 0});
      pipeline.messages.push_back({i, i - 1, true, 0});
    }
  }
  return pipeline;
}

std::string textOf(const std::vector<PipelineTask> &tasks) {
  std::string text;
  for (const PipelineTask &task : tasks)
    text += (task.isBackward ? "B" : "F") + std::to_string(task.micro) + " ";
  return text;
}

TEST(TaskOrder, IsOneForwardOneBackward) {
  Pipeline pipeline = chain(3, 1, 100);
  chooseSlots(pipeline.chunks, pipeline.messages, 5);
  EXPECT_EQ(pipeline.chunks[0].slots, 3);
  EXPECT_EQ(pipeline.chunks[1].slots, 2);
  EXPECT_EQ(pipeline.chunks[2].slots, 2) << "one computes while the next one is received";
  const TaskOrder order = orderTasks(pipeline.chunks, pipeline.messages, 5);
  EXPECT_EQ(textOf(order.stages[0]), "F0 F1 F2 B0 F3 B1 F4 B2 B3 B4 ");
  EXPECT_EQ(textOf(order.stages[1]), "F0 F1 B0 F2 B1 F3 B2 F4 B3 B4 ");
  EXPECT_EQ(textOf(order.stages[2]), "F0 F1 F2 F3 F4 ");
}

TEST(TaskOrder, HasTheBubbleOfTheFormula) {
  for (int64_t stages : {2, 4, 8})
    for (int64_t micros : {8, 32}) {
      Pipeline pipeline = chain(stages, 1, 1000);
      chooseSlots(pipeline.chunks, pipeline.messages, micros);
      const TaskOrder order = orderTasks(pipeline.chunks, pipeline.messages, micros);
      EXPECT_EQ(order.picoseconds, 3000 * (micros + stages - 1)) << stages << " " << micros;
    }
}

TEST(TaskOrder, RunsChunksWithoutGradients) {
  Pipeline pipeline = chain(2, 1, 100);
  pipeline.chunks[0].hasBackward = false; // Its parameters are frozen.
  pipeline.messages.pop_back();
  chooseSlots(pipeline.chunks, pipeline.messages, 4);
  EXPECT_EQ(pipeline.chunks[0].slots, 2);
  const TaskOrder order = orderTasks(pipeline.chunks, pipeline.messages, 4);
  EXPECT_EQ(textOf(order.stages[0]), "F0 F1 F2 F3 ");
  EXPECT_EQ(textOf(order.stages[1]), "F0 F1 F2 F3 ");
}

TEST(TaskOrder, InterleavesChunks) {
  for (int64_t perStage : {2, 4}) {
    Pipeline pipeline = chain(4, perStage, 1000 / perStage);
    chooseSlots(pipeline.chunks, pipeline.messages, 16);
    const TaskOrder order = orderTasks(pipeline.chunks, pipeline.messages, 16);
    // The ideal time, and the bubble of 1F1B divided by the chunks of a stage, within a fifteenth.
    const double bubble = 3.0 / static_cast<double>(perStage);
    EXPECT_LE(static_cast<double>(order.picoseconds), 1.067 * 3000 * (16 + bubble)) << perStage;
  }
}

TEST(TaskOrder, KeepsMicroStepsInOrderAndWithinSlots) {
  Pipeline pipeline = chain(3, 2, 100);
  pipeline.chunks[2].forward = 350; // A slow chunk.
  pipeline.messages.push_back({0, 4, false, 0});
  pipeline.messages.push_back({4, 0, true, 0});
  chooseSlots(pipeline.chunks, pipeline.messages, 7);
  const TaskOrder order = orderTasks(pipeline.chunks, pipeline.messages, 7);
  for (size_t stage = 0; stage < order.stages.size(); ++stage) {
    std::map<std::pair<int64_t, bool>, int64_t> next;
    for (const PipelineTask &task : order.stages[stage]) {
      const PipelineChunk &chunk = pipeline.chunks[static_cast<size_t>(task.chunk)];
      EXPECT_EQ(chunk.stage, static_cast<int64_t>(stage));
      EXPECT_EQ((next[{task.chunk, task.isBackward}]++), task.micro);
      if (task.chunk != 5) {
        const int64_t inProgress = next[{task.chunk, false}] - next[{task.chunk, true}];
        EXPECT_LE(inProgress, chunk.slots);
      }
    }
    for (const auto &[part, count] : next)
      EXPECT_EQ(count, 7);
  }
}

} // namespace
