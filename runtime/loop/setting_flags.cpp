// A flag has a number for each setting with its name, in the order of the program's table.
#include "runtime/loop/setting_flags.h"

#include "runtime/abi/number.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace mtc::runtime {

/// Returns the settings of a flag, each name once.
static std::vector<const MtcSetting *> settingsOf(const MtcProgram &program,
                                                  std::string_view flag) {
  std::vector<const MtcSetting *> found = distinctSettings(program);
  std::erase_if(found, [&](const MtcSetting *each) { return each->flag != flag; });
  return found;
}

static std::vector<std::string> splitList(const std::string &text) {
  std::vector<std::string> parts = {""};
  for (char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

static void setNumbers(Options &options, const FlagValue &value) {
  const std::vector<const MtcSetting *> settings =
      settingsOf(value.program, std::string_view(value.flag).substr(2));
  const std::vector<std::string> numbers = splitList(value.text);
  if (numbers.size() != settings.size())
    userError(value.flag, " ", value.text, ": expected ", settings.size(), " numbers");
  for (size_t i = 0; i < settings.size(); ++i) {
    double number = 0;
    std::string problem = abi::parseNumber(numbers[i], number);
    if (problem.empty())
      problem = checkSetting(*settings[i], number);
    if (!problem.empty())
      userError(value.flag, " ", value.text, ": ", problem);
    options.settings[settings[i]->name] = number;
  }
}

std::vector<OptionFlag> settingFlags(const MtcProgram &program) {
  std::vector<OptionFlag> flags;
  for (int64_t i = 0; i < program.setting_count; ++i) {
    const std::string name = program.settings[i].flag;
    if (std::any_of(flags.begin(), flags.end(),
                    [&](const OptionFlag &flag) { return flag.line.name == name; }))
      continue;
    std::string summary, values, placeholder;
    for (const MtcSetting *setting : settingsOf(program, name)) {
      summary += text(summary.empty() ? "" : "; ", setting->help);
      values += (values.empty() ? "" : ",") + compiledValues(program, setting->name);
      placeholder += placeholder.empty() ? "N" : ",N";
    }
    constexpr size_t longestSummary = 70;
    if (summary.size() > longestSummary)
      summary = "numbers of the optimizer, as compiled with --" + name;
    summary.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(summary.front())));
    flags.push_back({{.name = name,
                      .value = placeholder,
                      .summary = summary,
                      .defaultValue = values,
                      .group = "Hyperparameters"},
                     setNumbers});
  }
  return flags;
}

} // namespace mtc::runtime
