// Averages of weights over the steps, which a program keeps that was compiled with --ema.
#ifndef MTC_RUNTIME_STATE_AVERAGES_H
#define MTC_RUNTIME_STATE_AVERAGES_H

#include "runtime/devices/device.h"

namespace mtc::runtime {

/// Whether the program keeps any.
bool hasAverages(const MtcProgram &program);

/// Makes the averages the values of their parameters, which are lost: for what runs or is written
/// after the last update.
void useAverages(const MtcProgram &program, Device &device);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_AVERAGES_H
