//===- OptionValues.cpp - Parsers of option values --------------------------------------------===//

#include "passes/OptionValues.h"

#include "runtime/abi/number.h"

#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;

std::string mtc::parseValue(StringRef text, double &value) { return abi::parseNumber(text, value); }

template <typename Number>
static std::string parseOptional(StringRef text, std::optional<Number> &value) {
  Number number = 0;
  std::string problem = mtc::parseValue(text, number);
  if (problem.empty())
    value = number;
  return problem;
}

std::string mtc::parseValue(StringRef text, std::optional<double> &value) {
  return parseOptional(text, value);
}

std::string mtc::parseValue(StringRef text, int64_t &value) {
  return abi::parseNumber(text, value);
}

std::string mtc::parseValue(StringRef text, std::optional<int64_t> &value) {
  return parseOptional(text, value);
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

/// Returns "expected NOUN BOUND", with the range of f32 if the number exceeds it.
static std::string describeBound(double number, StringRef noun, StringRef bound) {
  return ("expected " + noun + " " + bound +
          (number > 0 ? " in the range of f32, 1.2e-38 to 3.4e+38" : ""))
      .str();
}

static bool isPositiveF32(double number) {
  return number >= mtc::abi::minF32 && number <= mtc::abi::maxF32;
}

std::string mtc::checkPositive(std::optional<double> number, StringRef noun) {
  return !number || isPositiveF32(*number) ? "" : describeBound(*number, noun, "greater than 0");
}

std::string mtc::checkNotNegative(std::optional<double> number, StringRef noun) {
  return !number || *number == 0 || isPositiveF32(*number)
             ? ""
             : describeBound(*number, noun, "of at least 0");
}

std::optional<double> mtc::parseNumber(StringRef text) {
  double number = 0.0;
  return parseValue(text, number).empty() ? std::optional(number) : std::nullopt;
}
