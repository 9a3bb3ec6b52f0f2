//===- FlagTable.h - Table of flags, recipe keys and their help -------------------------------===//

#ifndef MTC_DRIVER_FLAGTABLE_H
#define MTC_DRIVER_FLAGTABLE_H

#include "driver/Options.h"
#include "passes/OptionTable.h"
#include "passes/OptionValues.h"
#include "support/command_line/flag.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>

namespace mtc::tool {

/// Commands that have a flag, the flag's group in their help, and the stage at which the flag takes
/// effect. Text of that stage or a later one no longer depends on the flag.
struct FlagScope {
  llvm::ArrayRef<Command> commands;
  llvm::StringRef group;
  std::optional<Stage> decidedBy = std::nullopt;
};

using Refuse = llvm::function_ref<void(const llvm::Twine &)>;

/// A flag of `mtc`, which is also a key in recipes.
struct Flag {
  OptionText text;
  llvm::ArrayRef<Command> commands;
  std::string group;
  std::string defaultValue;
  std::optional<Stage> decidedBy;
  bool isCommon = false;
  bool isInRecipe = true;
  /// Values are NAME=VALUE, and each NAME may occur once.
  bool isPairs = false;
  /// Boolean flag whose value, true or false, is optional.
  bool isSwitch = false;
  bool isRepeatable = false;

  /// Given values in order; at most one unless the flag is repeatable.
  std::vector<std::string> values;
  /// Sets the options to the values, or reports an error.
  std::function<void(Options &, Refuse)> collect;

  bool isGiven() const { return !values.empty(); }
  bool isOf(Command command) const { return llvm::is_contained(commands, command); }
  /// Returns the given values separated by commas.
  std::string spell() const { return llvm::join(values, ","); }
  /// Returns the flag's description for parsing, help, completion and the reference.
  command_line::Flag describe() const;
};

class FlagTable {
public:
  /// Sets an option to a value. Returns an error message, or "" on success.
  using Take = std::function<std::string(Options &, llvm::StringRef)>;

  /// Adds a flag for an option of type bool, string, number or enum, or for a list of strings,
  /// which makes the flag repeatable.
  template <typename Access> Flag &add(Access access, OptionText text, const FlagScope &scope);
  /// Adds a flag with its own syntax.
  Flag &addText(OptionText text, const FlagScope &scope, Take take);
  /// Adds a repeatable flag with its own syntax.
  Flag &addTexts(OptionText text, const FlagScope &scope, Take take);
  /// Adds a repeatable flag whose values are comma-separated names of its choices.
  Flag &addNames(OptionText text, const FlagScope &scope, Take take);

  llvm::ArrayRef<std::unique_ptr<Flag>> getFlags() const { return flags; }
  /// Returns null if the command has no flag with this name.
  Flag *find(llvm::StringRef name, Command command) const;

private:
  /// Numbers given by one flag, separated by commas.
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
