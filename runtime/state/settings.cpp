// Settings are f64 scalars in the arena.
#include "runtime/state/settings.h"

#include "runtime/support/failure.h"

#include <limits>

namespace mtc::runtime {

void writeSettings(const MtcProgram &program, Device &device, const Settings &changed) {
  for (int64_t i = 0; i < program.setting_count; ++i) {
    const MtcSetting &setting = program.settings[i];
    const auto found = changed.find(setting.name);
    const double value = found == changed.end() ? setting.value : found->second;
    device.writeScalar(setting.offset, &value, sizeof value);
  }
}

std::string checkSetting(const MtcSetting &setting, double value) {
  if (value >= setting.minimum && value < setting.limit)
    return "";
  if (setting.minimum == std::numeric_limits<double>::min())
    return "expected a number greater than 0";
  if (setting.limit > 1e38)
    return text("expected a number of at least ", setting.minimum);
  return text("expected a number of at least ", setting.minimum, " and less than ", setting.limit);
}

std::string describeSettings(const Settings &settings) {
  std::string list;
  for (const auto &[name, value] : settings)
    list += text(list.empty() ? "" : ", ", name, " ", value);
  return list;
}

} // namespace mtc::runtime
