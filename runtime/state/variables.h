// Filling a program's variables before its first step.
#ifndef MTC_RUNTIME_STATE_VARIABLES_H
#define MTC_RUNTIME_STATE_VARIABLES_H

#include "runtime/devices/device.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The file that initial values are read from: that of --weights, or "" for the one beside the
/// program.
struct WeightsChoice {
  std::string file, programFolder;
  bool isQuiet = false; ///< no notes
};

/// Fills all variables of a device, whose arena is zeroed. Every tensor that is missing or has
/// another type or shape is named in one failure. With `keepTrained` (before resuming), parameters
/// and state are not read: a checkpoint will bring them.
void initializeVariables(const MtcProgram &program, Device &device, int threads,
                         const WeightsChoice &choice, bool keepTrained);

/// The bytes of the f32 that a variable is stored of (runtime/abi/storage.h), as the weights have
/// them.
std::vector<char> initialValue(const MtcProgram &program, uint32_t variable, int threads,
                               const WeightsChoice &choice);

/// Whether checkpoints hold the variable.
bool isSaved(const MtcVariable &variable);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_VARIABLES_H
