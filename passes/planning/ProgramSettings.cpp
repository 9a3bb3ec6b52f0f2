//===- ProgramSettings.cpp - The settings that programs can have ------------------------------===//

#include "passes/planning/ProgramSettings.h"

#include "passes/optimizer/HyperparameterSettings.h"

using namespace mlir;
using namespace mtc;

DictionaryAttr mtc::describeSettings(MLIRContext *context) {
  Builder b(context);
  NamedAttrList flags;
  std::vector<SettingKind> settings = updateSettings();
  settings.push_back(labelSmoothingSetting);
  settings.push_back(dropoutSetting);
  for (const SettingKind &setting : settings)
    flags.set(setting.name, b.getStringAttr(setting.flag));
  return flags.getDictionary(context);
}
