// Initialization of a program's variables before its first step.
#ifndef MTC_RUNTIME_STATE_VARIABLES_H
#define MTC_RUNTIME_STATE_VARIABLES_H

#include "runtime/devices/device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The file of the initial values: that of --weights, or "" for the one in the program's folder.
struct WeightsChoice {
  std::string file, programFolder;
  bool isQuiet = false; ///< suppresses notes
};

/// Initializes all variables of a device whose arena is zeroed. Reports every missing tensor and
/// every mismatch of type or shape in one failure. With `keepTrained` (before resuming), parameters
/// and state are not read, because a checkpoint provides them.
void initializeVariables(const MtcProgram &program, Device &device, int threads,
                         const WeightsChoice &choice, bool keepTrained);

/// Returns the initial f32 value, as in the weights, of a variable in compressed storage
/// (runtime/abi/storage.h).
std::vector<char> initialValue(const MtcProgram &program, uint32_t variable, int threads,
                               const WeightsChoice &choice);

/// Returns whether checkpoints contain the variable.
bool isSaved(const MtcVariable &variable);

/// Returns whether a variable is a sum over the micro-steps of a step, and so 0 between steps.
bool isSumOfStep(const MtcProgram &program, const MtcVariable &variable);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_VARIABLES_H
