//===- ReservedNames.cpp - Names that a program's own parts have ------------------------------===//

#include "ir/ReservedNames.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

bool mtc::isReservedSymbol(llvm::StringRef name) {
  llvm::StringRef number = name;
  if (number.consume_front("kernel_"))
    return !number.empty() && llvm::all_of(number, llvm::isDigit);
  return llvm::StringSwitch<bool>(name)
      .Cases({"forward", "micro_step", "update", "gradients", "evaluate"}, true)
      .Cases({"mtc.learning_rate", "mtc.step", "mtc.micro_step", "mtc.seed"}, true)
      .Default(false);
}

bool mtc::isReservedResult(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"mtc.loss", "mtc.row_loss", "mtc.row_weight", "mtc.row_correct"}, true)
      .Default(false);
}
