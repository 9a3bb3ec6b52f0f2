//===- OptimizerOptions.cpp - What the options of optimizers are, and may be ------------------===//

#include "passes/optimizer/OptimizerOptions.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mtc;

std::vector<OptionChoice> mtc::optimizerChoices() {
  std::vector<OptionChoice> choices;
  for (const OptimizerKind &kind : getOptimizers())
    choices.push_back({kind.name.str(), kind.help.str()});
  return choices;
}

/// "weight decay (adam, lion 0; adamw 0.01)"; what it is to other optimizers follows.
static std::string describeNumber(StringRef name) {
  struct Use {
    StringRef help;
    std::string value, optimizers;
  };
  SmallVector<Use> uses;
  for (const OptimizerKind &kind : getOptimizers()) {
    const Hyperparameter *number = kind.findHyperparameter(name);
    if (!number)
      continue;
    std::string value = spellNumber(number->defaultValue);
    Use *known = llvm::find_if(
        uses, [&](const Use &use) { return use.help == number->help && use.value == value; });
    if (known == uses.end())
      uses.push_back({number->help, value, kind.name.str()});
    else
      known->optimizers += ", " + kind.name.str();
  }
  std::string text;
  StringRef before;
  for (const Use &use : uses) {
    if (use.help != before)
      text += (before.empty() ? "" : "); ") + use.help.str() + " (";
    else
      text += "; ";
    text += use.optimizers + " " + use.value;
    before = use.help;
  }
  return text + ")";
}

std::vector<OptionText> mtc::hyperparameterTexts() {
  std::vector<OptionText> texts;
  llvm::SmallSet<StringRef, 8> names;
  for (const OptimizerKind &kind : getOptimizers())
    for (const Hyperparameter &number : kind.hyperparameters)
      if (names.insert(number.name).second)
        texts.push_back({.name = number.name,
                         .valueName = "number",
                         .help = describeNumber(number.name),
                         .sharedFlag = number.sharedFlag});
  return texts;
}

StringRef mtc::describeSchedule(ScheduleKind schedule) {
  switch (schedule) {
  case ScheduleKind::Constant:
    return "stays";
  case ScheduleKind::Linear:
    return "falls linearly to 0 at the run's end";
  case ScheduleKind::Cosine:
    return "falls to 0 at the run's end as half a cosine";
  }
  llvm_unreachable("all schedules are handled");
}

std::string OptimizerOptions::checkNumber(StringRef name) const {
  const OptimizerKind *kind = findOptimizer(optimizer);
  std::optional<double> value = numbers.lookup(name);
  if (!kind || !value)
    return "";
  const Hyperparameter *number = kind->findHyperparameter(name);
  if (!number)
    return "optimizer '" + optimizer + "' has no " + name.str() + "; it has: " +
           llvm::join(llvm::map_range(kind->hyperparameters,
                                      [](const Hyperparameter &each) { return each.name; }),
                      ", ");
  if (!number->accepts(*value))
    return name.str() + " of " + optimizer + " must be " + number->describeRange();
  return "";
}
