//===- HyperparameterSettings.h - Hyperparameters that flags of a program set -----------------===//

#ifndef MTC_PASSES_OPTIMIZER_HYPERPARAMETERSETTINGS_H
#define MTC_PASSES_OPTIMIZER_HYPERPARAMETERSETTINGS_H

#include "ir/builders/Settings.h"
#include "passes/optimizer/Optimizer.h"

#include <limits>

namespace mtc {

/// Returns the setting of an optimizer's hyperparameter; nothing if its value decides what is
/// computed, so that programs compute with a constant.
std::optional<SettingKind> settingOf(const OptimizerKind &optimizer, const Hyperparameter &number);

inline constexpr SettingKind clipNormSetting = {"clip-norm", "clip-norm",
                                                "limit of the global gradient norm",
                                                std::numeric_limits<double>::min(), unlimited},
                             clipValueSetting = {"clip-value", "clip-value",
                                                 "limit of each gradient element",
                                                 std::numeric_limits<double>::min(), unlimited};

/// Returns the settings of all optimizers and of clipping. Names may occur several times.
std::vector<SettingKind> updateSettings();

} // namespace mtc

#endif // MTC_PASSES_OPTIMIZER_HYPERPARAMETERSETTINGS_H
