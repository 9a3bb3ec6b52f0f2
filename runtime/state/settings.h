// Hyperparameters that flags of the program set.
#ifndef MTC_RUNTIME_STATE_SETTINGS_H
#define MTC_RUNTIME_STATE_SETTINGS_H

#include "runtime/devices/device.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace mtc::runtime {

/// Values by name, of the settings that are not as compiled.
using Settings = std::map<std::string, double>;

/// Writes all settings of a program into its variables.
void writeSettings(const MtcProgram &program, Device &device, const Settings &changed);

/// Returns the first setting of each name.
std::vector<const MtcSetting *> distinctSettings(const MtcProgram &program);

/// Returns the first setting of the program with a name; null if there is none.
const MtcSetting *findSetting(const MtcProgram &program, std::string_view name);

/// Returns the values as compiled of the settings with a name, each once: "0.1 and 0.5".
std::string compiledValues(const MtcProgram &program, std::string_view name);

/// Returns the first setting of the program with a name. Throws a user error if there is none.
const MtcSetting &requireSetting(const MtcProgram &program, const std::string &name);

/// Returns why the program cannot train on with the settings of a checkpoint; "" if it can.
std::string checkSettings(const MtcProgram &program, const Settings &saved);

/// Returns the flag by which mtc compile adds a setting that the program does not have, such as
/// "--betas"; "" if there is none.
std::string flagOfAbsent(const MtcProgram &program, std::string_view name);

/// Returns why a setting does not accept a value; "" if it does.
std::string checkSetting(const MtcSetting &setting, double value);

/// Returns "weight-decay 0.1, clip-norm 1".
std::string describeSettings(const Settings &settings);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_STATE_SETTINGS_H
