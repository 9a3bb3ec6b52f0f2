//===- OptionTable.h - Options that passes, pipelines and flags share -------------------------===//
//
// A struct of options has `visitOptions`, its table: a row says how an option is called, what it is
// for, and what it may be. A pass (PassWithOptions), a pipeline (registerTablePipeline) and the
// flags and recipe keys of `mtc` are made from the same row.
//
//   struct LossOptions {
//     std::string output;
//     template <typename Visitor> static void visitOptions(Visitor &&option) {
//       option(&LossOptions::output, {"output", "NAME", "graph output that the loss reads"});
//     }
//   };
//
// After the text a row may have a check: it takes the struct, and gives what is wrong, "" if
// nothing is.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_OPTIONTABLE_H
#define MTC_PASSES_OPTIONTABLE_H

#include "passes/OptionalNumber.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mtc {

/// A value that an option may have.
struct OptionChoice {
  std::string name, help;
};

/// "sgd, momentum, …".
std::string joinNames(llvm::ArrayRef<OptionChoice> choices);

/// What users see of an option.
struct OptionText {
  llvm::StringRef name;
  llvm::StringRef valueName;              // Placeholder of the value; "" of a switch.
  std::string help;                       // A phrase of at most 70 characters.
  std::vector<OptionChoice> choices = {}; // All that it may be; empty: whatever can be parsed.
  llvm::StringRef sharedFlag = {};        // The flag that gives several options, comma-separated.
  std::string detail = {};                // Sentences for --help-all and the reference.
  std::string defaultText = {};           // The default in words, where no value stands for it.

  llvm::StringRef getFlag() const { return sharedFlag.empty() ? name : sharedFlag; }
  /// What is wrong with a value that must be one of the choices, if there are any, or left open; ""
  /// if nothing is.
  std::string checkChoice(llvm::StringRef value) const;
};

/// The values of an enumeration of the dialect; `help` says what each is.
template <typename Enum>
std::vector<OptionChoice> choicesOf(llvm::StringRef (*help)(Enum) = nullptr) {
  std::vector<OptionChoice> choices;
  for (unsigned i = 0;; ++i) {
    auto value = static_cast<Enum>(i);
    llvm::StringRef name = stringifyEnum(value);
    if (name.empty())
      return choices;
    choices.push_back({name.str(), help ? help(value).str() : ""});
  }
}

/// A number as one types it.
std::string spellNumber(double number);

/// Whether an option is a list of texts.
template <typename T>
inline constexpr bool isOptionList = std::is_same_v<T, std::vector<std::string>>;

/// A value as one types it; "" of a switch, and of what is left open.
template <typename T> std::string spellOption(const T &value) {
  if constexpr (std::is_same_v<T, bool>)
    return "";
  else if constexpr (std::is_enum_v<T>)
    return stringifyEnum(value).str();
  else if constexpr (std::is_same_v<T, std::optional<double>>)
    return value ? spellNumber(*value) : "";
  else if constexpr (std::is_integral_v<T>)
    return std::to_string(value);
  else if constexpr (isOptionList<T>)
    return llvm::join(value, ",");
  else
    return value;
}

/// The type of an option's value.
template <typename Access, typename Values>
using OptionValueType = std::decay_t<std::invoke_result_t<Access, Values &>>;

/// Shows a visitor the options of a struct that is a member of another.
template <typename Outer, typename Values, typename Visitor>
void visitMember(Values Outer::*member, Visitor &&option) {
  Values::visitOptions([&](auto access, OptionText &&text, auto... check) {
    option([=](Outer &outer) -> auto & { return std::invoke(access, outer.*member); },
           std::move(text), [=](const Outer &outer) { return check(outer.*member); }...);
  });
}

/// Reports the invalid values, with one message for each flag, such as "--clip-norm 0: expected a
/// norm greater than 0". `given` returns a flag's value as the user wrote it; "" for values that
/// were not written.
template <typename Values>
void checkOptions(Values values, llvm::function_ref<void(const llvm::Twine &)> refuse,
                  llvm::function_ref<std::string(llvm::StringRef flag)> given = {}) {
  llvm::StringMap<std::string> spelled;
  Values::visitOptions([&](auto access, const OptionText &text, auto...) {
    std::string value = spellOption(std::invoke(access, values));
    std::string &all = spelled[text.getFlag()];
    all += (all.empty() || value.empty() ? "" : ",") + value;
  });
  llvm::MapVector<llvm::StringRef, llvm::SmallVector<std::string>> problems;
  Values::visitOptions([&](auto access, const OptionText &text, auto... check) {
    auto say = [&](const std::string &problem) {
      if (!problem.empty())
        problems[text.getFlag()].push_back(problem);
    };
    const auto &value = std::invoke(access, values);
    if constexpr (isOptionList<std::decay_t<decltype(value)>>) {
      for (const std::string &each : value)
        say(text.checkChoice(each));
    } else {
      say(text.checkChoice(spellOption(value)));
    }
    (say(check(values)), ...);
  });
  for (auto &[flag, all] : problems) {
    std::string value = given ? given(flag) : "";
    refuse("--" + flag + " " + (value.empty() ? spelled[flag] : value) + ": " +
           llvm::join(all, "; "));
  }
}

/// The options of a table as LLVM's, of a pass or a pipeline.
template <typename Values> class DeclaredOptions {
public:
  DeclaredOptions() = default;
  DeclaredOptions(const DeclaredOptions &) = delete;

  /// `Option` is the owner's class of options.
  template <template <typename> typename Option, typename Owner>
  void declare(Owner &owner, Values initial) {
    Values::visitOptions([&](auto access, OptionText given, auto...) {
      using T = OptionValueType<decltype(access), Values>;
      auto text = std::make_shared<OptionText>(std::move(given)); // LLVM's refers to it.
      auto option = std::make_shared<Option<T>>(
          owner, text->name, llvm::cl::desc(text->help), llvm::cl::value_desc(text->valueName),
          initialValue(std::invoke(access, initial)), LiteralValues<T>{text->choices});
      readers.push_back([text, option, access](Values &values) {
        if constexpr (isOptionList<T>)
          std::invoke(access, values) = llvm::ArrayRef<std::string>(**option).vec();
        else
          std::invoke(access, values) = option->getValue();
      });
    });
  }

  Values read() const {
    Values values;
    for (const auto &reader : readers)
      reader(values);
    return values;
  }

private:
  template <typename T> static auto initialValue(const T &value) {
    if constexpr (isOptionList<T>)
      return llvm::cl::list_init(llvm::ArrayRef(value));
    else
      return llvm::cl::init(value);
  }

  /// A modifier that gives an option of an enumeration its values.
  template <typename T> struct LiteralValues {
    const std::vector<OptionChoice> &choices;

    template <typename Option> void apply(Option &option) const {
      if constexpr (std::is_enum_v<T>)
        for (const OptionChoice &choice : choices)
          option.getParser().addLiteralOption(choice.name, *symbolizeEnum<T>(choice.name),
                                              choice.help);
    }
  };

  std::vector<std::function<void(Values &)>> readers;
};

/// A pass with the options of a table; `Base` is its generated base.
template <typename Base, typename Values> class PassWithOptions : public Base {
public:
  explicit PassWithOptions(const Values &values = {}) { declare(values); }
  /// Of options a copy has the defaults; Pass::clone copies their values.
  PassWithOptions(const PassWithOptions &other) : Base(other) { declare({}); }

protected:
  /// The options, or failure once what is wrong with them was said.
  mlir::FailureOr<Values> readOptions() {
    Values values = declared.read();
    bool isValid = true;
    checkOptions(values, [&](const llvm::Twine &problem) {
      mlir::emitError(this->getOperation().getLoc(), problem);
      isValid = false;
    });
    if (!isValid)
      return mlir::failure();
    return values;
  }

private:
  template <typename T>
  using PassOption =
      std::conditional_t<isOptionList<T>, typename Base::template ListOption<std::string>,
                         typename Base::template Option<T>>;

  void declare(const Values &values) { declared.template declare<PassOption>(*this, values); }

  DeclaredOptions<Values> declared;
};

/// A pipeline's options, which are those of a table.
template <typename Values>
struct TablePipelineOptions : mlir::PassPipelineOptions<TablePipelineOptions<Values>> {
  TablePipelineOptions() { declared.template declare<PipelineOption>(*this, Values()); }
  Values read() const { return declared.read(); }

private:
  template <typename T>
  using PipelineOption =
      std::conditional_t<isOptionList<T>, mlir::detail::PassOptions::ListOption<std::string>,
                         mlir::detail::PassOptions::Option<T>>;

  DeclaredOptions<Values> declared;
};

/// Makes a pipeline known to mtc-opt, with the options of a table. What is wrong with them is said
/// before anything runs.
template <typename Values>
void registerTablePipeline(llvm::StringRef name, llvm::StringRef description,
                           void (*build)(mlir::OpPassManager &, const Values &)) {
  using mlir::detail::PassOptions;
  mlir::registerPassPipeline(
      name, description,
      [build](mlir::OpPassManager &manager, llvm::StringRef text,
              llvm::function_ref<llvm::LogicalResult(const llvm::Twine &)> refuse) {
        TablePipelineOptions<Values> options;
        if (failed(options.parseFromString(text)))
          return mlir::failure();
        Values values = options.read();
        llvm::LogicalResult result = mlir::success();
        checkOptions(values, [&](const llvm::Twine &problem) { result = refuse(problem); });
        if (succeeded(result))
          build(manager, values);
        return result;
      },
      [](llvm::function_ref<void(const PassOptions &)> show) {
        show(TablePipelineOptions<Values>());
      });
}

} // namespace mtc

#endif // MTC_PASSES_OPTIONTABLE_H
