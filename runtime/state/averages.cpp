// Averages lie beside their parameters.
#include "runtime/state/averages.h"

#include <algorithm>

namespace mtc::runtime {

bool hasAverages(const MtcProgram &program) {
  return std::any_of(program.variables, program.variables + program.variable_count,
                     [](const MtcVariable &variable) { return variable.role == MTC_AVERAGE; });
}

void useAverages(const MtcProgram &program, Device &device) {
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (variable.role == MTC_AVERAGE)
      device.copy(variable.tensor.offset, program.variables[variable.of].tensor.offset,
                  variable.tensor.bytes);
  }
}

} // namespace mtc::runtime
