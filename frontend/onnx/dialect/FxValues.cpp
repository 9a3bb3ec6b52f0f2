//===- FxValues.cpp - Operators encoded in the names of FX values -----------------------------===//

#include "frontend/onnx/dialect/FxValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace mtc::onnx {

StringRef operatorOfValue(StringRef name) {
  auto [stem, number] = name.rsplit('_');
  return !number.empty() && llvm::all_of(number, isDigit) ? stem : name;
}

bool isPart(StringRef name) {
  return StringSwitch<bool>(operatorOfValue(name))
      .Cases({"slice", "select", "split", "chunk", "unbind", "narrow", "getitem"}, true)
      .Default(false);
}

bool changesLayout(StringRef name) {
  return StringSwitch<bool>(operatorOfValue(name))
      .Cases({"permute", "transpose", "t", "numpy_T"}, true)
      .Cases({"view", "reshape", "unsqueeze", "squeeze", "flatten"}, true)
      .Default(false);
}

bool keepsElements(StringRef name) {
  return changesLayout(name) ||
         StringSwitch<bool>(operatorOfValue(name))
             .Cases({"clone", "detach", "alias", "contiguous", "to", "_to_copy"}, true)
             .Default(false);
}

} // namespace mtc::onnx
