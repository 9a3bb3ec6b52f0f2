// Hyperparameters that flags of the program set.
#ifndef MTC_RUNTIME_STATE_SETTINGS_H
#define MTC_RUNTIME_STATE_SETTINGS_H

#include "runtime/devices/device.h"

#include <map>
#include <string>

namespace mtc::runtime {

/// Values by name, of the settings that are not as compiled.
using Settings = std::map<std::string, double>;

/// Writes all settings of a program into its variables.
void writeSettings(const MtcProgram &program, Device &device, const Settings &changed);

/// Returns why a setting does not accept a value; "" if it does.
std::string checkSetting(const MtcSetting &setting, double value);

/// Returns "weight-decay 0.1, clip-norm 1".
std::string describeSettings(const Settings &settings);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_SETTINGS_H
