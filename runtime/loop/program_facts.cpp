// The schedule and the token inputs of a program.
#include "runtime/loop/program_facts.h"

#include "runtime/loop/schedule.h"

namespace mtc::runtime {

/// Returns the length of the token sequences of a sample. It is taken from the first input that has
/// a batch axis and one more axis, and whose integers are indices, such as those of an embedding.
static std::optional<int64_t> tokensOfSample(const MtcProgram &program) {
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const MtcInput &input = program.inputs[i];
    const bool isInteger = input.tensor.type == MTC_I32 || input.tensor.type == MTC_I64;
    if (isInteger && !input.is_label && !input.is_whole && input.tensor.rank == 2 &&
        input.minimum < input.limit && input.tensor.dims[1] > 1)
      return input.tensor.dims[1];
  }
  return std::nullopt;
}

RunFacts factsOf(const MtcProgram &program, const TrainingState &state, int64_t total) {
  const MtcSchedule schedule = scheduleOf(program, state);
  return {.firstStep = state.step,
          .totalSteps = total,
          .tokensPerSample = tokensOfSample(program),
          .model = program.model_name,
          .loss = program.loss,
          .optimizer = program.optimizer,
          .target = program.target,
          .schedule = schedule.kind,
          .peakRate = schedule.rate,
          .plannedBytes = program.arena_bytes,
          .bestMetric = state.validation.metric,
          .classes = state.classes};
}

} // namespace mtc::runtime
