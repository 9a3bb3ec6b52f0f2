//===- OptionValues.h - Parsers of option values ----------------------------------------------===//
//
// Each parser sets the value and returns "", or returns the problem as the end of a message, such
// as "expected a whole number, such as 8".
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_PASSES_OPTIONVALUES_H
#define MTC_PASSES_OPTIONVALUES_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mtc {

/// Parses a finite number in decimal notation. A nonzero number that a double rounds to 0 is
/// rejected.
std::string parseValue(llvm::StringRef text, double &value);
std::string parseValue(llvm::StringRef text, std::optional<double> &value);
/// Parses a whole number in decimal notation.
std::string parseValue(llvm::StringRef text, int64_t &value);
std::string parseValue(llvm::StringRef text, std::optional<int64_t> &value);
/// Parses "true" or "false" and the spellings that LLVM's flags accept; "" is true, as for a switch
/// without a value.
std::string parseValue(llvm::StringRef text, bool &value);

/// Return the problem of a number that must be greater than 0, or at least 0, in f32; "" if it is
/// valid or not given. `noun` is what is expected, such as "a norm".
std::string checkPositive(std::optional<double> number, llvm::StringRef noun = "a number");
std::string checkNotNegative(std::optional<double> number, llvm::StringRef noun = "a number");

/// Returns the number, or nothing if it cannot be parsed.
std::optional<double> parseNumber(llvm::StringRef text);

} // namespace mtc

#endif // MTC_PASSES_OPTIONVALUES_H
