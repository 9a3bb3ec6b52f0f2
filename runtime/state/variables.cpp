#include "runtime/state/variables.h"

#include <algorithm>

namespace mtc::runtime {

bool isSaved(const MtcVariable &variable) {
  return variable.role == MTC_PARAMETER || variable.role == MTC_STATE ||
         variable.role == MTC_OPTIMIZER || variable.role == MTC_AVERAGE;
}

const MtcVariable *lowHalfOf(const MtcProgram &program, uint32_t variable) {
  const MtcVariable *end = program.variables + program.variable_count;
  const MtcVariable *low = std::find_if(program.variables, end, [&](const MtcVariable &other) {
    return other.role == MTC_LOW_HALF && other.of == static_cast<int32_t>(variable);
  });
  return low == end ? nullptr : low;
}

MtcTensor wholeTensor(const MtcVariable &variable, const MtcVariable *low) {
  MtcTensor whole = variable.whole ? *variable.whole : variable.tensor;
  // A piece has no address of its own in the value.
  whole.offset = variable.tensor.offset;
  whole.space = variable.tensor.space;
  if (low) {
    whole.type = MTC_F32;
    whole.bytes *= 2;
  }
  return whole;
}

bool isSumOfStep(const MtcProgram &program, const MtcVariable &variable) {
  const MtcAccumulation &sums = program.accumulation;
  return sums.micro_steps > 1 && variable.role == MTC_OPTIMIZER && variable.tensor.rank == 0 &&
         variable.tensor.offset >= 0 &&
         (variable.tensor.offset == sums.loss_sum || variable.tensor.offset == sums.count);
}

} // namespace mtc::runtime
