//===- FlagTable.cpp - Flags, recipe keys and their help from one entry each ------------------===//

#include "driver/FlagTable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;
using llvm::StringRef;
using namespace mtc;
using namespace mtc::tool;

void FlagPlace::apply(cl::Option &option) const {
  cl::sub(commands).apply(option);
  option.addCategory(heading);
}

/// What LLVM puts before the values of an enumeration, and before a help text.
static constexpr StringRef choicePrefix = "    =", helpPrefix = " - ";

static size_t widthOf(const OptionChoice &choice) {
  return choicePrefix.size() + choice.name.size() + helpPrefix.size();
}

void TextParser::printOptionInfo(const cl::Option &option, size_t width) const {
  parser::printOptionInfo(option, width);
  for (const OptionChoice &choice : choices) {
    llvm::outs() << choicePrefix << choice.name;
    cl::Option::printEnumValHelpStr(choice.help, width, widthOf(choice));
  }
}

size_t TextParser::getOptionWidth(const cl::Option &option) const {
  size_t width = parser::getOptionWidth(option);
  for (const OptionChoice &choice : choices)
    width = std::max(width, widthOf(choice));
  return width;
}

Flag &FlagTable::append(OptionText text, const FlagPlace &place) {
  Flag &flag = *flags.emplace_back(std::make_unique<Flag>());
  flag.text = std::move(text);
  flag.decidedBy = place.decidedBy;
  return flag;
}

/// Why a flag's text is refused whatever the flag means; "" if it is not.
static std::string checkText(const Flag &flag, StringRef value) {
  if (!value.empty() || flag.isSwitch)
    return flag.text.checkChoice(value);
  return flag.text.choices.empty() ? "expected " + flag.option->ValueStr.str()
                                   : "expected " + joinNames(flag.text.choices);
}

/// Gives the options a flag's text, unless it is empty or none of the flag's choices.
static void give(Options &options, const Flag &flag, StringRef value, const FlagTable::Take &take,
                 Refuse refuse) {
  std::string problem = checkText(flag, value);
  if (problem.empty())
    problem = take(options, value);
  if (!problem.empty())
    refuse((flag.text.name.size() == 1 ? "-" : "--") + flag.text.name + " " +
           (value.empty() ? "''" : value) + ": " + problem);
}

Flag &FlagTable::addText(OptionText text, const FlagPlace &place, Take take) {
  Flag &flag = append(std::move(text), place);
  auto &option = declare<cl::opt<std::string, false, TextParser>>(flag, place);
  option.getParser().setChoices(flag.text.choices);
  flag.value = &option.getValue();
  flag.collect = [&flag, take = std::move(take)](Options &options, Refuse refuse) {
    give(options, flag, *flag.value, take, refuse);
  };
  return flag;
}

Flag &FlagTable::addSwitch(OptionText text, const FlagPlace &place, Take take) {
  Flag &flag = append(std::move(text), place);
  flag.isSwitch = true;
  flag.value = &declare<cl::opt<std::string, false, SwitchParser>>(flag, place).getValue();
  flag.collect = [&flag, take = std::move(take)](Options &options, Refuse refuse) {
    give(options, flag, *flag.value, take, refuse);
  };
  return flag;
}

Flag &FlagTable::addTexts(OptionText text, const FlagPlace &place, Take take) {
  Flag &flag = append(std::move(text), place);
  auto &option = declare<cl::list<std::string, bool, TextParser>>(flag, place);
  option.getParser().setChoices(flag.text.choices);
  flag.texts = &option;
  flag.collect = [&flag, take = std::move(take)](Options &options, Refuse refuse) {
    for (StringRef value : *flag.texts)
      give(options, flag, value, take, refuse);
  };
  return flag;
}

Flag &FlagTable::addNames(OptionText text, const FlagPlace &place, Take take) {
  Flag &flag = addTexts(std::move(text), place, {});
  flag.collect = [&flag, take = std::move(take)](Options &options, Refuse refuse) {
    for (StringRef value : *flag.texts)
      for (StringRef name : llvm::split(value, ','))
        give(options, flag, name.trim(), take, refuse);
  };
  return flag;
}

/// Numbers that are separated by commas; none if one is none.
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
                           const OptionText &text, const FlagPlace &place) {
  SharedNumbers &all = shared[text.sharedFlag];
  if (!all.flag)
    all.flag = &addText({.name = text.sharedFlag, .valueName = "numbers", .help = ""}, place,
                        [&all](Options &options, StringRef given) -> std::string {
                          llvm::SmallVector<double> values = parseNumbers(given);
                          if (values.size() != all.numbers.size())
                            return "expected " + std::to_string(all.numbers.size()) + " numbers, " +
                                   all.names;
                          for (auto [number, value] : llvm::zip_equal(all.numbers, values))
                            number(options) = value;
                          return "";
                        });
  all.numbers.push_back(std::move(number));
  bool isFirst = all.names.empty();
  all.names += (isFirst ? "" : ",") + text.name.str();
  all.flag->text.help += (isFirst ? "" : "; ") + (text.name + ": " + text.help).str();
  all.flag->option->setDescription(all.flag->text.help);
  all.flag->option->setValueStr(all.names);
  return *all.flag;
}

const Flag *FlagTable::find(StringRef name, cl::SubCommand &command) const {
  for (const auto &flag : flags)
    if (flag->text.name == name && flag->option->Subs.contains(&command))
      return flag.get();
  return nullptr;
}
