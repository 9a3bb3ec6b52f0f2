// Settings are f64 scalars in the arena.
#include "runtime/state/settings.h"

#include "runtime/support/failure.h"
#include "support/terminal/suggestions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mtc::runtime {

void writeSettings(const MtcProgram &program, Device &device, const Settings &changed) {
  for (int64_t i = 0; i < program.setting_count; ++i) {
    const MtcSetting &setting = program.settings[i];
    if (setting.offset < 0)
      continue; // Only other pipeline stages read the setting.
    const auto found = changed.find(setting.name);
    const double value = found == changed.end() ? setting.value : found->second;
    device.writeScalar(setting.offset, &value, sizeof value);
  }
}

std::string flagOfAbsent(const MtcProgram &program, std::string_view name) {
  for (int64_t i = 0; i < program.absent_setting_count; ++i)
    if (const MtcAbsentSetting &absent = program.absent_settings[i]; absent.name == name)
      return text("--", absent.flag);
  return "";
}

const MtcSetting *findSetting(const MtcProgram &program, std::string_view name) {
  const MtcSetting *end = program.settings + program.setting_count;
  const MtcSetting *found = std::find_if(program.settings, end,
                                         [&](const MtcSetting &each) { return each.name == name; });
  return found == end ? nullptr : found;
}

std::vector<const MtcSetting *> distinctSettings(const MtcProgram &program) {
  std::vector<const MtcSetting *> all;
  for (int64_t i = 0; i < program.setting_count; ++i)
    if (const MtcSetting &each = program.settings[i]; findSetting(program, each.name) == &each)
      all.push_back(&each);
  return all;
}

std::string compiledValues(const MtcProgram &program, std::string_view name) {
  std::vector<double> values;
  std::string list;
  for (int64_t i = 0; i < program.setting_count; ++i) {
    const MtcSetting &each = program.settings[i];
    if (each.name != name || std::find(values.begin(), values.end(), each.value) != values.end())
      continue;
    values.push_back(each.value);
    list += text(list.empty() ? "" : " and ", each.value);
  }
  return list;
}

const MtcSetting &requireSetting(const MtcProgram &program, const std::string &name) {
  if (const MtcSetting *found = findSetting(program, name))
    return *found;
  if (const std::string flag = flagOfAbsent(program, name); !flag.empty())
    userError("setting '", name, "': this program does not compute with it; compile it with ", flag,
              " to set other values");
  std::vector<std::string> names;
  for (const MtcSetting *each : distinctSettings(program))
    names.emplace_back(each->name);
  userError("setting '", name, "': this program does not have it",
            terminal::suggestNames(name, names));
}

std::string checkSettings(const MtcProgram &program, const Settings &saved) {
  for (const auto &[name, value] : saved) {
    if (findSetting(program, name))
      continue;
    const std::string flag = flagOfAbsent(program, name);
    return text("the checkpoint was trained with ", name, " ", value,
                ", with which this program does not compute; ",
                flag.empty() ? "resume it with the program that wrote it"
                             : "compile it with " + flag);
  }
  return "";
}

std::string checkSetting(const MtcSetting &setting, double value) {
  if (value >= setting.minimum && value < setting.limit)
    return "";
  if (setting.minimum == std::numeric_limits<double>::min())
    return "expected a number greater than 0";
  if (setting.limit > 1e38)
    return text("expected a number of at least ", setting.minimum);
  if (const double maximum = std::nextafter(setting.limit, 0); maximum == std::round(maximum))
    return text("expected a number of at least ", setting.minimum, " and at most ", maximum);
  return text("expected a number of at least ", setting.minimum, " and less than ", setting.limit);
}

std::string describeSettings(const Settings &settings) {
  std::string list;
  for (const auto &[name, value] : settings)
    list += text(list.empty() ? "" : ", ", name, " ", value);
  return list;
}

} // namespace mtc::runtime
