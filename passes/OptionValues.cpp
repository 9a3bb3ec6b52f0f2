//===- OptionValues.cpp - Parsers of option values --------------------------------------------===//

#include "passes/OptionValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using llvm::StringRef;

/// Rejects hexadecimal numbers, which messages would print in decimal, and words such as "inf".
static bool isDecimal(StringRef text) {
  return llvm::all_of(text,
                      [](char c) { return llvm::isDigit(c) || StringRef("+-.eE").contains(c); });
}

static bool hasNonzeroDigit(StringRef text) {
  return text.take_until([](char c) { return c == 'e' || c == 'E'; }).find_first_of("123456789") !=
         StringRef::npos;
}

std::string mtc::parseValue(StringRef text, double &value) {
  if (!isDecimal(text) || text.getAsDouble(value) || !std::isfinite(value))
    return "expected a finite number, such as 0.001";
  if (value == 0.0 && hasNonzeroDigit(text))
    return "is too close to 0 for a 64-bit number; expected 0, or at least 1e-300";
  return "";
}

std::string mtc::parseValue(StringRef text, std::optional<double> &value) {
  double number = 0.0;
  std::string problem = parseValue(text, number);
  if (problem.empty())
    value = number;
  return problem;
}

std::string mtc::parseValue(StringRef text, int64_t &value) {
  if (!text.getAsInteger(10, value))
    return "";
  text.consume_front("-");
  bool isTooLarge = !text.empty() && llvm::all_of(text, llvm::isDigit);
  return isTooLarge ? "is too large for a 64-bit number" : "expected a whole number, such as 8";
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
