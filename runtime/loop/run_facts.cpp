// Properties of a run, from the program and its data.
#include "runtime/loop/run_facts.h"

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

/// Returns the number of samples after which an epoch ends.
static int64_t samplesOfEpoch(const Session &session, const TrainingState &state) {
  const int64_t rows = session.data.rows(), batch = session.data.batchOfStep();
  switch (state.lastBatch) {
  case LastBatch::Wrap:
    return rows;
  case LastBatch::Drop:
    return rows / batch * batch;
  case LastBatch::Mask:
    return (rows + batch - 1) / batch * batch;
  }
  return rows;
}

RunFacts factsOf(const Session &session, const TrainingState &state, int64_t total) {
  const MtcProgram &program = session.program;
  const MtcSchedule schedule = scheduleOf(program, state);
  return {.firstStep = state.step,
          .totalSteps = total,
          .samplesPerStep = session.data.batchOfStep(),
          .samplesPerEpoch =
              session.data.feeding() == Feeding::Whole ? 0 : samplesOfEpoch(session, state),
          .tokensPerSample = tokensOfSample(program),
          .program = session.programName,
          .model = program.model_name,
          .loss = program.loss,
          .optimizer = program.optimizer,
          .target = program.target,
          .schedule = schedule.kind,
          .peakRate = schedule.rate,
          .plannedBytes = program.arena_bytes};
}

} // namespace mtc::runtime
