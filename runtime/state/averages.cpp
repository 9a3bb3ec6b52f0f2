// Copies averages to their parameters, or exchanges both.
#include "runtime/state/averages.h"

#include "runtime/state/stored_variable.h"

#include <algorithm>

namespace mtc::runtime {

bool hasAverages(const MtcProgram &program) {
  return std::any_of(program.variables, program.variables + program.variable_count,
                     [](const MtcVariable &variable) { return variable.role == MTC_AVERAGE; });
}

/// Calls `action` with each parameter that has an average and the average. Also updates the copies
/// of the parameters.
template <typename Action>
static void forEachAverage(const MtcProgram &program, Device &device, const Action &action) {
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (variable.role == MTC_AVERAGE)
      action(StoredVariable(program, static_cast<uint32_t>(variable.of)), variable);
  }
  writeCopies(program, device);
}

void useAverages(const MtcProgram &program, Device &device) {
  forEachAverage(program, device, [&](const StoredVariable &parameter, const MtcVariable &average) {
    parameter.copyFrom(device, average);
  });
}

void exchangeAverages(const MtcProgram &program, Device &device) {
  forEachAverage(program, device, [&](const StoredVariable &parameter, const MtcVariable &average) {
    parameter.exchange(device, average);
  });
}

} // namespace mtc::runtime
