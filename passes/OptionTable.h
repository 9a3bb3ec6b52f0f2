//===- OptionTable.h - Options shared by passes, pipelines and flags --------------------------===//
//
// An options struct declares its table in `visitOptions`: each row holds an option's name, help
// text and accepted values. Passes (PassWithOptions), pipelines (registerTablePipeline), and the
// flags and recipe keys of `mtc` are all generated from this table.
//
//   struct LossOptions {
//     std::string output;
//     template <typename Visitor> static void visitOptions(Visitor &&option) {
//       option(&LossOptions::output, {"output", "NAME", "graph output that the loss reads"});
//     }
//   };
//
// A row may end with a check: a function that accepts the struct and returns the problem, or "" if
// the value is valid. A rule that also depends on other structs is a function `check` of the struct
// that contains all of them.
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

/// One accepted value of an option.
struct OptionChoice {
  std::string name, help;
};

/// Joins the names with commas: "sgd, momentum, …".
std::string joinNames(llvm::ArrayRef<OptionChoice> choices);

/// The user-visible text of an option.
struct OptionText {
  llvm::StringRef name;
  llvm::StringRef valueName;              // Placeholder of the value; "" for a switch.
  std::string help;                       // A phrase of at most 70 characters.
  std::vector<OptionChoice> choices = {}; // Accepted values; empty: any parsable value.
  llvm::StringRef sharedFlag = {};        // The flag that sets several options, comma-separated.
  std::string detail = {};                // Sentences for --help-all and the reference.
  std::string defaultText = {};           // Describes the default if no value represents it.
  bool isOfUpdate = false;                // Has no effect on the gradient of one batch.
  bool isOfPass = false;                  // An option of passes that is no flag of mtc.

  llvm::StringRef getFlag() const { return sharedFlag.empty() ? name : sharedFlag; }
  /// Returns the problem with a value that is set but not among the choices; "" if the value is
  /// valid or the option has no choices.
  std::string checkChoice(llvm::StringRef value) const;
};

/// Reports a problem with the value of a flag: "offload-window", "nothing is offloaded".
using RefuseOption = llvm::function_ref<void(llvm::StringRef flag, const llvm::Twine &problem)>;

/// Returns the values of a dialect enumeration; `help` describes each value.
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

/// Prints a number as the user would write it on the command line.
std::string spellNumber(double number);

/// Whether an option holds a list of strings.
template <typename T>
inline constexpr bool isOptionList = std::is_same_v<T, std::vector<std::string>>;

/// Prints a value as the user would write it; "" for a switch and for an unset value.
template <typename T> std::string spellOption(const T &value) {
  if constexpr (std::is_same_v<T, bool>)
    return "";
  else if constexpr (std::is_enum_v<T>)
    return stringifyEnum(value).str();
  else if constexpr (std::is_same_v<T, std::optional<double>>)
    return value ? spellNumber(*value) : "";
  else if constexpr (std::is_same_v<T, std::optional<int64_t>>)
    return value ? std::to_string(*value) : "";
  else if constexpr (std::is_integral_v<T>)
    return std::to_string(value);
  else if constexpr (isOptionList<T>)
    return llvm::join(value, ",");
  else
    return value;
}

/// The value type of an option.
template <typename Access, typename Values>
using OptionValueType = std::decay_t<std::invoke_result_t<Access, Values &>>;

/// Passes the options of a nested struct to the visitor of the enclosing struct.
template <typename Outer, typename Values, typename Visitor>
void visitMember(Values Outer::*member, Visitor &&option) {
  Values::visitOptions([&](auto access, OptionText &&text, auto... check) {
    option([=](Outer &outer) -> auto & { return std::invoke(access, outer.*member); },
           std::move(text), [=](const Outer &outer) { return check(outer.*member); }...);
  });
}

/// Reports invalid values in one message per flag, such as "--clip-norm 0: expected a norm greater
/// than 0". `given` returns a flag's value as the user wrote it, or "" if the flag was not given.
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

/// Declares the options of a table as LLVM options of a pass or a pipeline.
template <typename Values> class DeclaredOptions {
public:
  DeclaredOptions() = default;
  DeclaredOptions(const DeclaredOptions &) = delete;

  /// Declares all options on `owner`; `Option` is the owner's option class.
  template <template <typename> typename Option, typename Owner>
  void declare(Owner &owner, Values initial) {
    Values::visitOptions([&](auto access, OptionText given, auto...) {
      using T = OptionValueType<decltype(access), Values>;
      auto text = std::make_shared<OptionText>(std::move(given)); // LLVM's option refers to it.
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

  /// A modifier that registers the literals of an enumeration with its option.
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

/// A pass whose options come from a table; `Base` is the pass's TableGen-generated base class.
template <typename Base, typename Values> class PassWithOptions : public Base {
public:
  explicit PassWithOptions(const Values &values = {}) { declare(values); }
  /// A copy starts with default options; Pass::clone copies the values.
  PassWithOptions(const PassWithOptions &other) : Base(other) { declare({}); }

protected:
  /// Returns the options, or failure after reporting the invalid ones.
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

/// Pipeline options that come from a table.
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

/// Registers a pipeline with mtc-opt, with the options of a table. Invalid options are reported
/// before any pass runs.
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
