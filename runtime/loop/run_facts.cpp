// Properties of a run, from the program and its data.
#include "runtime/loop/run_facts.h"

#include "runtime/loop/program_facts.h"
#include "runtime/support/quotient.h"

#include <algorithm>
#include <cmath>

namespace mtc::runtime {

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

RunFacts factsOf(const Session &session, const TrainingState &state, int64_t total) {
  RunFacts facts = factsOf(session.program, state, total);
  facts.samplesPerStep = samplesOfStep(session, state);
  facts.samplesPerEpoch = session.data.feeding() == Feeding::Whole
                              ? 0
                              : samplesOfEpoch(session, state, facts.samplesPerStep);
  // The mean, if samples have different lengths.
  if (const std::optional<double> mean = session.data.meanLength(); mean && facts.tokensPerSample)
    facts.tokensPerSample = std::llround(*mean);
  facts.program = session.programName;
  return facts;
}

} // namespace mtc::runtime
