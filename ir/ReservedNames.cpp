//===- ReservedNames.cpp - Reserved symbols and result names of programs ----------------------===//

#include "ir/ReservedNames.h"

#include "runtime/abi/row_values.h"

#include "llvm/ADT/StringExtras.h"

using namespace mtc;

std::string mtc::scalarName(RuntimeScalar scalar) {
  return ("mtc." + stringifyRuntimeScalar(scalar)).str();
}

static constexpr llvm::StringLiteral settingPrefix = "mtc.setting.";

std::string mtc::settingName(llvm::StringRef scope, llvm::StringRef name) {
  return (settingPrefix + scope + "." + name).str();
}

std::string mtc::nameForShape(llvm::StringRef name, unsigned shape) {
  return shape == 0 ? name.str() : (name + "." + llvm::Twine(shape)).str();
}

llvm::StringRef mtc::withoutShape(llvm::StringRef name) {
  auto [base, number] = name.rsplit('.');
  return !number.empty() && llvm::all_of(number, llvm::isDigit) ? base : name;
}

bool mtc::isMicroStep(llvm::StringRef name) {
  return shapeOfName(name) == 0 && name.consume_front(microStepName) &&
         (name.empty() || name.starts_with("."));
}

unsigned mtc::shapeOfName(llvm::StringRef name) {
  unsigned shape = 0;
  if (llvm::StringRef number = name.drop_front(withoutShape(name).size());
      number.consume_front("."))
    number.getAsInteger(10, shape);
  return shape;
}

bool mtc::isReservedSymbol(llvm::StringRef name) {
  llvm::StringRef rest = name;
  if (rest.consume_front("kernel_"))
    return !rest.empty() && llvm::all_of(rest, llvm::isDigit);
  if (rest.starts_with(gradientSumPrefix) || rest.starts_with(settingPrefix) ||
      rest.starts_with(slotPrefix) || isMicroStep(rest))
    return true;
  if (rest.consume_front("mtc.") && symbolizeRuntimeScalar(rest))
    return true;
  return llvm::is_contained({forwardName, microStepName, updateName, gradientsName, evaluateName,
                             outputsName, lossScaleName, finiteUpdatesName, updateCountName,
                             lossSumName, targetCountName, agreementName},
                            withoutShape(name));
}

bool mtc::isReservedResult(llvm::StringRef name) {
  return name == lossName || name.starts_with(abi::rowPrefix);
}
