//===- OptimizerOptions.cpp - Options of mtc-optimizer ----------------------------------------===//

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

/// Returns the description and default of a hyperparameter by optimizer, for instance "weight decay
/// (adam, lion 0; adamw 0.01)". Different descriptions for other optimizers follow.
static std::string describeHyperparameter(StringRef name) {
  struct Use {
    StringRef help;
    std::string value, optimizers;
  };
  SmallVector<Use> uses;
  for (const OptimizerKind &kind : getOptimizers()) {
    const Hyperparameter *number = kind.findHyperparameter(name);
    if (!number)
      continue;
    std::string value = number->spell(number->defaultValue);
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

static std::string capitalize(StringRef text) {
  return llvm::toUpper(text.front()) + text.drop_front().str();
}

std::vector<OptionText> mtc::hyperparameterTexts() {
  std::vector<OptionText> texts;
  llvm::SmallSet<StringRef, 8> names;
  for (const OptimizerKind &kind : getOptimizers())
    for (const Hyperparameter &number : kind.hyperparameters)
      if (names.insert(number.name).second) {
        OptionText text{.name = number.name,
                        .valueName = number.choices.empty() ? "NUMBER" : "CHOICE",
                        .help = capitalize(number.help),
                        .sharedFlag = number.sharedFlag,
                        .detail = describeHyperparameter(number.name),
                        .defaultText = "by optimizer"};
        for (const HyperparameterChoice &choice : number.choices)
          text.choices.push_back({choice.name.str(), choice.help.str()});
        texts.push_back(std::move(text));
      }
  return texts;
}

SmallVector<const OptimizerKind *> OptimizerOptions::findKinds() const {
  const OptimizerKind *kind = findOptimizer(optimizer);
  if (!kind)
    return {};
  SmallVector<const OptimizerKind *> kinds = {kind};
  if (kind->domain)
    kinds.push_back(findOptimizer(kind->domain->otherwise));
  for (StringRef text : groups)
    if (llvm::Expected<ParameterGroup> group = ParameterGroup::parse(text))
      kinds.push_back(group->optimizer ? group->optimizer : kind);
    else
      llvm::consumeError(group.takeError()); // checkGroups() reports the error.
  return kinds;
}

std::optional<double> OptimizerOptions::findGiven(const Hyperparameter &hyperparameter) const {
  if (hyperparameter.choices.empty())
    return numbers.lookup(hyperparameter.name);
  const auto *found = llvm::find_if(hyperparameter.choices, [&](const HyperparameterChoice &each) {
    return each.name == choices.lookup(hyperparameter.name);
  });
  return found == hyperparameter.choices.end()
             ? std::nullopt
             : std::optional<double>(found - hyperparameter.choices.begin());
}

UpdateRule OptimizerOptions::makeRule(const OptimizerKind &kind) const {
  UpdateRule rule(kind);
  for (auto [number, hyperparameter] : llvm::zip_equal(rule.numbers, kind.hyperparameters))
    number = findGiven(hyperparameter).value_or(number);
  if (std::optional<double> highest = schedule.getHighest())
    rule["lr"] = *highest;
  return rule;
}

double OptimizerOptions::getLearningRate() const {
  return makeRule(*findOptimizer(optimizer))["lr"];
}

std::string OptimizerOptions::checkMinRate() const {
  return findOptimizer(optimizer) ? schedule.checkMin(getLearningRate()) : "";
}

std::string OptimizerOptions::checkGroups() const {
  for (StringRef text : groups)
    if (llvm::Expected<ParameterGroup> group = ParameterGroup::parse(text); !group)
      return (groups.size() > 1 ? "of '" + text.str() + "': " : "") +
             llvm::toString(group.takeError());
  return "";
}

std::string OptimizerOptions::checkHyperparameter(StringRef name) const {
  if (!numbers.lookup(name) && choices.lookup(name).empty())
    return "";
  if (name == "lr" && !schedule.points.empty())
    return abi::tableSetsRates;
  SmallVector<const OptimizerKind *> kinds = findKinds();
  bool isKnown = kinds.empty(); // An unknown optimizer is reported elsewhere.
  for (const OptimizerKind *kind : kinds) {
    const Hyperparameter *hyperparameter = kind->findHyperparameter(name);
    if (!hyperparameter)
      continue;
    isKnown = true;
    std::optional<double> given = findGiven(*hyperparameter);
    if (given && hyperparameter->choices.empty() && !hyperparameter->accepts(*given))
      return name.str() + " of " + kind->name.str() + " must be " +
             hyperparameter->describeRange() +
             (hyperparameter->sharedFlag.empty() ? "" : ", got " + spellNumber(*given));
  }
  if (isKnown)
    return "";
  return "optimizer '" + optimizer + "' has no " + name.str() + "; its settings are: " +
         llvm::join(llvm::map_range(kinds.front()->hyperparameters,
                                    [](const Hyperparameter &each) { return each.name; }),
                    ", ");
}
