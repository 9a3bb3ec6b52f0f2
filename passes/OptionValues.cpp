//===- OptionValues.cpp - Parsers of option values --------------------------------------------===//

#include "passes/OptionValues.h"

#include "runtime/abi/number.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

std::string mtc::parseValue(StringRef text, double &value) { return abi::parseNumber(text, value); }

std::string mtc::parseValue(StringRef text, std::optional<double> &value) {
  double number = 0.0;
  std::string problem = parseValue(text, number);
  if (problem.empty())
    value = number;
  return problem;
}

std::string mtc::parseValue(StringRef text, int64_t &value) {
  return abi::parseNumber(text, value);
}

std::string mtc::parseValue(StringRef text, bool &value) {
  std::optional<bool> known = llvm::StringSwitch<std::optional<bool>>(text)
                                  .Cases({"", "true", "TRUE", "True", "1"}, true)
                                  .Cases({"false", "FALSE", "False", "0"}, false)
                                  .Default(std::nullopt);
  if (!known)
    return "expected true or false";
  value = *known;
  return "";
}

std::optional<double> mtc::parseNumber(StringRef text) {
  double number = 0.0;
  return parseValue(text, number).empty() ? std::optional(number) : std::nullopt;
}
