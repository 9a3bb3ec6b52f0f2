//===- HyperparameterSettings.cpp - Hyperparameters that flags of a program set ---------------===//

#include "passes/optimizer/HyperparameterSettings.h"

using namespace mtc;

std::optional<SettingKind> mtc::settingOf(const OptimizerKind &optimizer,
                                          const Hyperparameter &number) {
  const bool isInitial = llvm::any_of(
      optimizer.states, [&](const OptimizerState &state) { return state.initial == number.name; });
  // The schedule sets the learning rate.
  if (number.name == "lr" || !number.choices.empty() || number.isWhole || isInitial)
    return std::nullopt;
  return SettingKind{number.name, number.sharedFlag.empty() ? number.name : number.sharedFlag,
                     number.help, number.minimum, number.limit};
}

std::vector<SettingKind> mtc::updateSettings() {
  std::vector<SettingKind> settings = {clipNormSetting, clipValueSetting};
  for (const OptimizerKind &optimizer : getOptimizers())
    for (const Hyperparameter &number : optimizer.hyperparameters)
      if (std::optional<SettingKind> setting = settingOf(optimizer, number))
        settings.push_back(*setting);
  return settings;
}
