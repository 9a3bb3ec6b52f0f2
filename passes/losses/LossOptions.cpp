//===- LossOptions.cpp - Options of mtc-attach-loss -------------------------------------------===//

#include "passes/losses/LossOptions.h"

using namespace mtc;

void LossParameters::visitGiven(
    llvm::function_ref<void(llvm::StringRef name, const std::string &value)> visit) const {
  const LossParameters defaults;
  visitOptions([&](auto access, const OptionText &text, auto...) {
    if (std::invoke(access, *this) != std::invoke(access, defaults))
      visit(text.name, spellOption(std::invoke(access, *this)));
  });
}

std::string LossParameters::checkSmoothing() const {
  bool isValid = !labelSmoothing || (*labelSmoothing >= 0 && *labelSmoothing <= 1);
  return isValid ? "" : "expected a number from 0 to 1";
}

std::string LossParameters::checkWeights(llvm::ArrayRef<std::string> weights) {
  bool isPositive = weights.empty();
  for (const std::string &text : weights) {
    std::optional<double> weight = parseNumber(text);
    std::string problem = checkNotNegative(weight.value_or(-1));
    if (!problem.empty())
      return "'" + text + "': invalid weight; " + problem + ", or a .npy file";
    isPositive |= *weight > 0;
  }
  return isPositive ? "" : "every weight is 0; expected a weight greater than 0";
}
