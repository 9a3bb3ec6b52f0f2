#include "runtime/state/variables.h"

namespace mtc::runtime {

bool isSaved(const MtcVariable &variable) {
  return variable.role == MTC_PARAMETER || variable.role == MTC_STATE ||
         variable.role == MTC_OPTIMIZER || variable.role == MTC_AVERAGE;
}

bool isSumOfStep(const MtcProgram &program, const MtcVariable &variable) {
  const MtcAccumulation &sums = program.accumulation;
  return sums.micro_steps > 1 && variable.role == MTC_OPTIMIZER && variable.tensor.rank == 0 &&
         (variable.tensor.offset == sums.loss_sum || variable.tensor.offset == sums.count);
}

} // namespace mtc::runtime
