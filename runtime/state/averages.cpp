// Copies averages to their parameters.
#include "runtime/state/averages.h"

#include "runtime/state/stored_variable.h"

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
      StoredVariable(program, static_cast<uint32_t>(variable.of))
          .copyFrom(device, addressOf(variable.tensor));
  }
  writeCopies(program, device);
}

} // namespace mtc::runtime
