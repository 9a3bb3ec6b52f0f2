//===- TaskOrder.h - Order of the tasks of pipeline stages ------------------------------------===//

#ifndef MTC_PASSES_PIPELINE_TASKORDER_H
#define MTC_PASSES_PIPELINE_TASKORDER_H

#include <cstdint>
#include <vector>

namespace mtc {

/// A part of the forward function, with its part of the backward function.
struct PipelineChunk {
  int64_t stage = 0; ///< the stage that runs it
  /// Picoseconds of a micro-step.
  int64_t forward = 0, backward = 0;
  /// Whether the backward part is a task of its own. It is one task with the forward part in the
  /// last chunk, and in chunks that receive no gradients.
  bool hasBackward = true;
  /// Micro-steps that may be between their forward and backward parts; also the number of copies of
  /// the chunk's slots.
  int64_t slots = 1;
};

/// A message from a chunk to another one. Messages of forward parts go to later chunks, and those
/// of backward parts to earlier ones.
struct PipelineMessage {
  int64_t from = 0, to = 0; ///< chunks
  bool isBackward = false;
  int64_t picoseconds = 0;
};

/// The forward or the backward part of a chunk for a micro-step. The only part of a chunk counts as
/// a forward part.
struct PipelineTask {
  int64_t chunk = 0, micro = 0;
  bool isBackward = false;
};

/// The tasks of the stages for an update.
struct TaskOrder {
  std::vector<std::vector<PipelineTask>> stages;
  int64_t picoseconds = 0; ///< until the last task ends
};

/// Orders the tasks of `micros` micro-steps. Each stage runs a backward part that is ready, or else
/// a forward part: if each stage has one chunk, this is the order known as 1F1B (Narayanan et al.,
/// 2019). Among several chunks, later ones come first, or each chunk for as many micro-steps as
/// there are stages (Narayanan et al., 2021), whichever is faster. Of each chunk, micro-steps are
/// in order. Forward parts wait for a slot.
TaskOrder orderTasks(const std::vector<PipelineChunk> &chunks,
                     const std::vector<PipelineMessage> &messages, int64_t micros);

/// Chooses the slots of each chunk: the fewest with which an update takes at most a hundredth
/// longer than with one for each micro-step.
void chooseSlots(std::vector<PipelineChunk> &chunks, const std::vector<PipelineMessage> &messages,
                 int64_t micros);

} // namespace mtc

#endif // MTC_PASSES_PIPELINE_TASKORDER_H
