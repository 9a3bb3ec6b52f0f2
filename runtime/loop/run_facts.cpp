// Properties of a run, from the program and its data.
#include "runtime/loop/run_facts.h"

#include "runtime/loop/schedule.h"
#include "runtime/support/quotient.h"

#include <algorithm>
#include <cmath>

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

/// Returns the number of samples after which an epoch ends, for steps of `perStep` samples.
static int64_t samplesOfEpoch(const Session &session, const TrainingState &state, int64_t perStep) {
  const int64_t rows = session.data.rows();
  if (state.isGrouped)
    return perStep * state.stepsPerEpoch;
  switch (state.lastBatch) {
  case LastBatch::Wrap:
    return rows;
  case LastBatch::Drop:
    return rows / perStep * perStep;
  case LastBatch::Mask:
    return roundedUpQuotient(rows, perStep) * perStep;
  }
  return rows;
}

/// Returns the number of samples of a step, on average over an epoch.
static int64_t samplesOfStep(const Session &session, const TrainingState &state) {
  return state.isGrouped ? std::max<int64_t>(1, session.data.rows() / state.stepsPerEpoch)
                         : session.data.batchOfStep();
}

/// Returns the number of tokens of a sample, on average if samples have different lengths.
static std::optional<int64_t> tokensOfSample(const Session &session) {
  const std::optional<int64_t> ofProgram = tokensOfSample(session.program);
  const std::optional<double> mean = session.data.meanLength();
  return ofProgram && mean ? std::optional<int64_t>(std::llround(*mean)) : ofProgram;
}

RunFacts factsOf(const Session &session, const TrainingState &state, int64_t total) {
  const MtcProgram &program = session.program;
  const MtcSchedule schedule = scheduleOf(program, state);
  const int64_t samples = samplesOfStep(session, state);
  return {.firstStep = state.step,
          .totalSteps = total,
          .samplesPerStep = samples,
          .samplesPerEpoch = session.data.feeding() == Feeding::Whole
                                 ? 0
                                 : samplesOfEpoch(session, state, samples),
          .tokensPerSample = tokensOfSample(session),
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
