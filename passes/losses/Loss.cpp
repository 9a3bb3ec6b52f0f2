//===- Loss.cpp - The list of losses ----------------------------------------------------------===//

#include "passes/losses/Loss.h"

using namespace mlir;
using namespace mtc;

namespace mtc {
#define MTC_FILE(NAME) void add##NAME##Losses(std::vector<Loss> &losses);
#include "passes/losses/Losses.inc"
#undef MTC_FILE

template <> Registry<std::vector<Loss>> &Registry<std::vector<Loss>>::get() {
  static Registry registry = {
#define MTC_FILE(NAME) add##NAME##Losses,
#include "passes/losses/Losses.inc"
#undef MTC_FILE
  };
  return registry;
}
} // namespace mtc

ArrayRef<Loss> mtc::getLosses() { return Registry<std::vector<Loss>>::get().getTable(); }

const Loss *mtc::findLoss(StringRef name) {
  const auto *found =
      llvm::find_if(getLosses(), [&](const Loss &loss) { return loss.name == name; });
  return found == getLosses().end() ? nullptr : found;
}

Value mtc::buildNumbers(TensorBuilder &b, ArrayRef<std::string> numbers, Type element) {
  SmallVector<Attribute> values;
  for (const std::string &text : numbers)
    values.push_back(b.getFloatAttr(element, *parseNumber(text)));
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
  return b.constant(DenseElementsAttr::get(type, values));
}

bool mtc::isRepresentable(int64_t value, Type element) {
  APInt number(64, static_cast<uint64_t>(value), /*isSigned=*/true);
  unsigned width = element.getIntOrFloatBitWidth();
  return isUnsigned(element) ? value >= 0 && number.isIntN(width) : number.isSignedIntN(width);
}

std::vector<OptionChoice> mtc::lossChoices() {
  std::vector<OptionChoice> choices;
  for (const Loss &loss : getLosses())
    choices.push_back({loss.name.str(), loss.help.str()});
  choices.push_back({"output", "the graph output itself, a scalar"});
  return choices;
}
