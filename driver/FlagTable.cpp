//===- FlagTable.cpp - Table of flags, recipe keys and their help -----------------------------===//

#include "driver/FlagTable.h"

#include "llvm/ADT/StringExtras.h"

using llvm::StringRef;
using namespace mtc;
using namespace mtc::tool;

command_line::Flag Flag::describe() const {
  command_line::Flag line{.name = text.name.str(),
                          .value = isSwitch ? "" : text.valueName.str(),
                          .summary = text.help,
                          .detail = text.detail,
                          .defaultValue = isSwitch ? "" : text.defaultText,
                          .group = group,
                          .isCommon = isCommon,
                          .isRepeatable = isRepeatable,
                          .choices = {}};
  for (const OptionChoice &choice : text.choices)
    line.choices.push_back({choice.name, choice.help});
  return line;
}

Flag &FlagTable::append(OptionText text, const FlagScope &scope) {
  Flag &flag = *flags.emplace_back(std::make_unique<Flag>());
  flag.text = std::move(text);
  flag.commands = scope.commands;
  flag.group = scope.group;
  flag.decidedBy = scope.decidedBy;
  return flag;
}

/// Returns an error for an empty value or an unknown choice, or "" if the value is acceptable.
static std::string checkText(const Flag &flag, StringRef value) {
  if (!value.empty() || flag.isSwitch)
    return flag.text.checkChoice(value);
  return "expected " +
         (flag.text.choices.empty() ? flag.text.valueName.str() : joinNames(flag.text.choices));
}

/// Sets the options to a value, unless it is empty or not one of the flag's choices.
static void give(Options &options, const Flag &flag, StringRef value, const FlagTable::Take &take,
                 Refuse refuse) {
  std::string problem = checkText(flag, value);
  if (problem.empty())
    problem = take(options, value);
  if (!problem.empty())
    refuse(flag.describe().spelling() + " " + (value.empty() ? "''" : value) + ": " + problem);
}

Flag &FlagTable::addText(OptionText text, const FlagScope &scope, Take take) {
  Flag &flag = append(std::move(text), scope);
  flag.collect = [&flag, take = std::move(take)](Options &options, Refuse refuse) {
    for (StringRef value : flag.values)
      give(options, flag, value, take, refuse);
  };
  return flag;
}

Flag &FlagTable::addTexts(OptionText text, const FlagScope &scope, Take take) {
  Flag &flag = addText(std::move(text), scope, std::move(take));
  flag.isRepeatable = true;
  return flag;
}

Flag &FlagTable::addNames(OptionText text, const FlagScope &scope, Take take) {
  Flag &flag = addTexts(std::move(text), scope, {});
  flag.collect = [&flag, take = std::move(take)](Options &options, Refuse refuse) {
    for (StringRef value : flag.values)
      for (StringRef name : llvm::split(value, ','))
        give(options, flag, name.trim(), take, refuse);
  };
  return flag;
}

/// Parses comma-separated numbers. Returns an empty list if one of them is invalid.
static llvm::SmallVector<double> parseNumbers(StringRef text) {
  llvm::SmallVector<double> numbers;
  for (StringRef part : llvm::split(text, ','))
    if (std::optional<double> number = parseNumber(part.trim()))
      numbers.push_back(*number);
    else
      return {};
  return numbers;
}

Flag &FlagTable::addShared(std::function<std::optional<double> &(Options &)> number,
                           const OptionText &text, const FlagScope &scope) {
  SharedNumbers &all = shared[text.sharedFlag];
  if (!all.flag)
    all.flag = &addText({.name = text.sharedFlag,
                         .valueName = "X,...",
                         .help = "",
                         .defaultText = text.defaultText},
                        scope, [&all](Options &options, StringRef given) -> std::string {
                          llvm::SmallVector<double> values = parseNumbers(given);
                          if (values.size() != all.numbers.size())
                            return "expected " + std::to_string(all.numbers.size()) + " numbers, " +
                                   llvm::join(all.names, ",");
                          for (auto [number, value] : llvm::zip_equal(all.numbers, values))
                            number(options) = value;
                          return "";
                        });
  all.numbers.push_back(std::move(number));
  all.names.push_back(text.name.str());
  all.flag->text.help = "Set " + llvm::join(all.names, ", ");
  std::string &detail = all.flag->text.detail;
  detail += (detail.empty() ? "" : "; ") + (text.name + ": " + text.detail).str();
  return *all.flag;
}

Flag *FlagTable::find(StringRef name, Command command) const {
  for (const auto &flag : flags)
    if (flag->text.name == name && flag->isOf(command))
      return flag.get();
  return nullptr;
}
