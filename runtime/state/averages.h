// Exponential moving averages of weights, in a program compiled with --ema.
#ifndef MTC_RUNTIME_STATE_AVERAGES_H
#define MTC_RUNTIME_STATE_AVERAGES_H

#include "runtime/devices/device.h"

namespace mtc::runtime {

/// Returns whether the program has averages.
bool hasAverages(const MtcProgram &program);

/// Overwrites the parameters with their averages, for evaluation or export after the last update.
void useAverages(const MtcProgram &program, Device &device);

/// Exchanges the parameters with their averages, for an evaluation during training. A second call
/// restores every bit.
void exchangeAverages(const MtcProgram &program, Device &device);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_AVERAGES_H
