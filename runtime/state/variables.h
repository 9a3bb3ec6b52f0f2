// Initial values of a program's variables.
#ifndef MTC_RUNTIME_STATE_VARIABLES_H
#define MTC_RUNTIME_STATE_VARIABLES_H

#include "runtime/devices/device.h"
#include "runtime/io/safetensors.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The file that initial values are read from: that of --weights, or "" for the one beside the
/// program.
struct WeightsChoice {
  std::string file, programFolder;
};

/// Fills all variables of a device, whose arena is zeroed. Every tensor that is missing or has
/// another type or shape is named in one failure. With `keepTrained` (before resuming), parameters
/// and state are not read: a checkpoint will bring them.
void initializeVariables(const MtcProgram &program, Device &device, int threads,
                         const WeightsChoice &choice, bool keepTrained);

/// The bytes of the f32 that a variable is stored of (runtime/abi/storage.h), as the weights have
/// them.
std::vector<char> initialValue(const MtcProgram &program, const MtcVariable &variable, int threads,
                               const WeightsChoice &choice);

/// Reads bytes of a tensor of a file, from byte `at` of it on.
void readArray(const ArrayOnDisk &array, int64_t at, char *to, int64_t bytes);

/// Why a tensor of a file cannot be the variable's value; "" if it can.
std::string mismatch(const MtcTensor &expected, const ArrayOnDisk &found);

/// Whether checkpoints hold the variable.
bool isSaved(const MtcVariable &variable);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_VARIABLES_H
