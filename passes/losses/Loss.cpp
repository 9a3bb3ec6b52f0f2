//===- Loss.cpp - The table of losses ---------------------------------------------------------===//

#include "passes/losses/Loss.h"

using namespace mlir;
using namespace mtc;

ArrayRef<Loss> mtc::getLosses() {
  static const Loss losses[] = {crossEntropyLoss, causalLmLoss, meanSquaredErrorLoss,
                                absoluteErrorLoss, binaryCrossEntropyLoss};
  return losses;
}

const Loss *mtc::findLoss(StringRef name) {
  for (const Loss &loss : getLosses())
    if (loss.name == name)
      return &loss;
  return nullptr;
}

std::string mtc::listLosses() {
  std::string names;
  for (const Loss &loss : getLosses())
    names += loss.name.str() + ", ";
  return names + "output";
}
