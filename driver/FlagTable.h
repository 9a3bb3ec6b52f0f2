//===- FlagTable.h - Flags, recipe keys and their help from one entry each --------------------===//

#ifndef MTC_DRIVER_FLAGTABLE_H
#define MTC_DRIVER_FLAGTABLE_H

#include "driver/Options.h"
#include "passes/OptionTable.h"
#include "passes/OptionValues.h"
#include "runtime/command_line/flag.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace mtc::tool {

/// Which commands have a flag, its group in their help, and the stage at which it is decided: text
/// of that stage or a later one no longer depends on the flag.
struct FlagScope {
  llvm::ArrayRef<Command> commands;
  llvm::StringRef group;
  std::optional<Stage> decidedBy = std::nullopt;
};

using Refuse = llvm::function_ref<void(const llvm::Twine &)>;

/// A flag of `mtc`, which is also a key of recipes.
struct Flag {
  OptionText text;
  llvm::ArrayRef<Command> commands;
  std::string group;
  std::string defaultValue;
  std::optional<Stage> decidedBy;
  bool isCommon = false;
  bool isInRecipe = true;
  /// Values are NAME=VALUE, and each NAME may be given once.
  bool isPairs = false;
  /// Stands alone: a value, true or false, is optional.
  bool isSwitch = false;
  bool isRepeatable = false;

  /// The values that were given, in their order; a flag that is not repeatable has at most one.
  std::vector<std::string> values;
  /// Sets the options to the values, or reports why it cannot.
  std::function<void(Options &, Refuse)> collect;

  bool isGiven() const { return !values.empty(); }
  bool isOf(Command command) const { return llvm::is_contained(commands, command); }
  /// The values as they were given, separated by commas.
  std::string spell() const { return llvm::join(values, ","); }
  /// For parsing, help, completion and the reference.
  command_line::Flag describe() const;
};

class FlagTable {
public:
  /// Sets the options to a value; returns the problem, "" if there is none.
  using Take = std::function<std::string(Options &, llvm::StringRef)>;

  /// A flag of one of the options: a switch, a text, a number, an enumerator, or a list of texts,
  /// which makes it repeatable.
  template <typename Access> Flag &add(Access access, OptionText text, const FlagScope &scope);
  /// A flag with a syntax of its own.
  Flag &addText(OptionText text, const FlagScope &scope, Take take);
  /// A repeatable flag with a syntax of its own.
  Flag &addTexts(OptionText text, const FlagScope &scope, Take take);
  /// A repeatable flag whose values are comma-separated names of its choices.
  Flag &addNames(OptionText text, const FlagScope &scope, Take take);

  llvm::ArrayRef<std::unique_ptr<Flag>> getFlags() const { return flags; }
  /// Null if the command has no flag of this name.
  Flag *find(llvm::StringRef name, Command command) const;

private:
  /// Comma-separated numbers of one flag.
  struct SharedNumbers {
    Flag *flag = nullptr;
    std::vector<std::string> names;
    std::vector<std::function<std::optional<double> &(Options &)>> numbers;
  };

  Flag &append(OptionText text, const FlagScope &scope);
  Flag &addShared(std::function<std::optional<double> &(Options &)> number, const OptionText &text,
                  const FlagScope &scope);

  std::vector<std::unique_ptr<Flag>> flags;
  std::map<llvm::StringRef, SharedNumbers> shared;
};

template <typename Access>
Flag &FlagTable::add(Access access, OptionText text, const FlagScope &scope) {
  using T = OptionValueType<Access, Options>;
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    auto take = [access](Options &options, llvm::StringRef value) {
      std::invoke(access, options).push_back(value.str());
      return "";
    };
    return text.choices.empty() ? addTexts(std::move(text), scope, take)
                                : addNames(std::move(text), scope, take);
  } else {
    Options defaults;
    if (text.defaultText.empty())
      text.defaultText = spellOption(std::invoke(access, defaults));
    if constexpr (std::is_same_v<T, std::string>)
      return addText(std::move(text), scope, [access](Options &options, llvm::StringRef value) {
        std::invoke(access, options) = value.str();
        return "";
      });
    else if constexpr (std::is_enum_v<T>)
      return addText(std::move(text), scope, [access](Options &options, llvm::StringRef value) {
        std::invoke(access, options) = *symbolizeEnum<T>(value);
        return "";
      });
    else {
      if constexpr (std::is_same_v<T, std::optional<double>>)
        if (!text.sharedFlag.empty())
          return addShared(access, text, scope);
      Flag &flag =
          addText(std::move(text), scope, [access](Options &options, llvm::StringRef value) {
            T parsed = {};
            std::string problem = parseValue(value, parsed);
            if (problem.empty())
              std::invoke(access, options) = parsed;
            return problem;
          });
      flag.isSwitch = std::is_same_v<T, bool>;
      return flag;
    }
  }
}

} // namespace mtc::tool

#endif // MTC_DRIVER_FLAGTABLE_H
