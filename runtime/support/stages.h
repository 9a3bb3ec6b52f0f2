// The pipeline stages of a program.
#ifndef MTC_RUNTIME_SUPPORT_STAGES_H
#define MTC_RUNTIME_SUPPORT_STAGES_H

#include "runtime/abi/program.h"

#include <cstdint>

namespace mtc::runtime {

/// Returns the number of ranks of each pipeline stage.
inline int64_t ranksOfStage(const MtcProgram &program) {
  return program.stages > 1 ? program.ranks / program.stages : program.ranks;
}

/// Returns the tables of a rank, by those of the first stage. The stages have equally many ranks,
/// with consecutive numbers. If a launcher started too many processes, the surplus ranks get the
/// tables of the first stage, with which the run reports the wrong number.
inline const MtcProgram *stageOf(const MtcProgram *first, int64_t rank) {
  const int64_t stages = 1 + int64_t{first->following_stage_count};
  const int64_t stage = rank / (first->ranks / stages);
  return stage == 0 || stage >= stages ? first : &first->following_stages[stage - 1];
}

} // namespace mtc::runtime

#endif // MTC_RUNTIME_SUPPORT_STAGES_H
