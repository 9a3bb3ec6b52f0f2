//===- FlagTable.h - Flags, recipe keys and their help from one entry each --------------------===//

#ifndef MTC_DRIVER_FLAGTABLE_H
#define MTC_DRIVER_FLAGTABLE_H

#include "driver/Options.h"
#include "passes/OptionTable.h"
#include "passes/OptionValues.h"

#include "llvm/Support/CommandLine.h"

#include <map>

namespace mtc::tool {

/// Which commands have a flag, the heading that it has in their help, and the stage by which it is
/// decided, where a text may have done so.
struct FlagPlace {
  llvm::cl::SubCommandGroup &commands;
  llvm::cl::OptionCategory &heading;
  std::optional<Stage> decidedBy = std::nullopt;

  /// As a modifier of LLVM's options.
  void apply(llvm::cl::Option &option) const;
};

/// Parses texts, and shows in the help which there are to choose from. What is none of them is
/// refused when the options are collected, with one message wherever it was given.
class TextParser : public llvm::cl::parser<std::string> {
public:
  using parser::parser;

  /// The choices stay the caller's.
  void setChoices(llvm::ArrayRef<OptionChoice> all) { choices = all; }
  void printOptionInfo(const llvm::cl::Option &option, size_t width) const;
  size_t getOptionWidth(const llvm::cl::Option &option) const;

private:
  llvm::ArrayRef<OptionChoice> choices;
};

/// Parses the optional value of a switch, as a text.
class SwitchParser : public llvm::cl::parser<std::string> {
public:
  using parser::parser;

  llvm::cl::ValueExpected getValueExpectedFlagDefault() const { return llvm::cl::ValueOptional; }
  llvm::StringRef getValueName() const override { return ""; }
};

using Refuse = llvm::function_ref<void(const llvm::Twine &)>;

/// A flag of `mtc`, which is a key of recipes too.
struct Flag {
  OptionText text;
  std::optional<Stage> decidedBy;
  bool isInRecipe = true;
  /// Of texts NAME=VALUE, in which each name counts by itself.
  bool isPairs = false;
  /// Stands alone: a value, true or false, is optional.
  bool isSwitch = false;

  std::unique_ptr<llvm::cl::Option> option;
  /// The values that were given of a flag that may be given several times; null of another.
  const std::vector<std::string> *texts = nullptr;
  /// The value that was given of a flag that may be given once; null of another.
  const std::string *value = nullptr;
  /// Gives the options what was given, or says why it cannot.
  std::function<void(Options &, Refuse)> collect;

  bool isGiven() const { return option->getNumOccurrences() > 0; }
  /// The value as it was given, values with commas between them.
  std::string spell() const { return value ? *value : llvm::join(*texts, ","); }
};

class FlagTable {
public:
  /// Gives the options what a text says; what is wrong with it, "" if nothing is.
  using Take = std::function<std::string(Options &, llvm::StringRef)>;

  /// A flag of one of the options: a switch, a text, a number, one of an enumeration, or a list of
  /// texts, which may be given several times.
  template <typename Access> Flag &add(Access access, OptionText text, const FlagPlace &place);
  /// A flag with a syntax of its own.
  Flag &addText(OptionText text, const FlagPlace &place, Take take);
  /// The same, for a flag that may be given several times.
  Flag &addTexts(OptionText text, const FlagPlace &place, Take take);
  /// The same for names with commas between them, each of which is one of the choices.
  Flag &addNames(OptionText text, const FlagPlace &place, Take take);

  llvm::ArrayRef<std::unique_ptr<Flag>> getFlags() const { return flags; }
  /// Null if the command has no flag of this name.
  const Flag *find(llvm::StringRef name, llvm::cl::SubCommand &command) const;

private:
  /// Numbers that one flag gives, separated by commas.
  struct SharedNumbers {
    Flag *flag = nullptr;
    std::string names;
    std::vector<std::function<std::optional<double> &(Options &)>> numbers;
  };

  Flag &append(OptionText text, const FlagPlace &place);
  template <typename Option> Option &declare(Flag &flag, const FlagPlace &place);
  Flag &addSwitch(OptionText text, const FlagPlace &place, Take take);
  Flag &addShared(std::function<std::optional<double> &(Options &)> number, const OptionText &text,
                  const FlagPlace &place);

  std::vector<std::unique_ptr<Flag>> flags;
  std::map<llvm::StringRef, SharedNumbers> shared;
};

template <typename Option> Option &FlagTable::declare(Flag &flag, const FlagPlace &place) {
  auto option = std::make_unique<Option>(flag.text.name, llvm::cl::desc(flag.text.help),
                                         llvm::cl::value_desc(flag.text.valueName), place);
  Option &declared = *option;
  flag.option = std::move(option);
  return declared;
}

template <typename Access>
Flag &FlagTable::add(Access access, OptionText text, const FlagPlace &place) {
  using T = OptionValueType<Access, Options>;
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    auto take = [access](Options &options, llvm::StringRef value) {
      std::invoke(access, options).push_back(value.str());
      return "";
    };
    return text.choices.empty() ? addTexts(std::move(text), place, take)
                                : addNames(std::move(text), place, take);
  } else {
    Options defaults;
    if (std::string value = spellOption(std::invoke(access, defaults)); !value.empty())
      text.help += " (" + value + ")";
    if constexpr (std::is_same_v<T, std::string>)
      return addText(std::move(text), place, [access](Options &options, llvm::StringRef value) {
        std::invoke(access, options) = value.str();
        return "";
      });
    else if constexpr (std::is_enum_v<T>)
      return addText(std::move(text), place, [access](Options &options, llvm::StringRef value) {
        std::invoke(access, options) = *symbolizeEnum<T>(value);
        return "";
      });
    else {
      if constexpr (std::is_same_v<T, std::optional<double>>)
        if (!text.sharedFlag.empty())
          return addShared(access, text, place);
      auto take = [access](Options &options, llvm::StringRef value) {
        T parsed = {};
        std::string problem = parseValue(value, parsed);
        if (problem.empty())
          std::invoke(access, options) = parsed;
        return problem;
      };
      return std::is_same_v<T, bool> ? addSwitch(std::move(text), place, take)
                                     : addText(std::move(text), place, take);
    }
  }
}

} // namespace mtc::tool

#endif // MTC_DRIVER_FLAGTABLE_H
