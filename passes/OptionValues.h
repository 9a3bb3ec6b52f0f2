//===- OptionValues.h - Values of options as text ---------------------------------------------===//
//
// Each function returns "" and sets the value, or returns the problem as the end of a message, such
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

/// A finite number in decimal notation. A number that is not 0 but that a double rounds to 0 is a
/// problem.
std::string parseValue(llvm::StringRef text, double &value);
std::string parseValue(llvm::StringRef text, std::optional<double> &value);
/// A whole number in decimal notation.
std::string parseValue(llvm::StringRef text, int64_t &value);
/// "true" or "false", and what LLVM's flags accept for them; "" is true, as a switch alone is.
std::string parseValue(llvm::StringRef text, bool &value);

/// The number, or nothing where there is a problem.
std::optional<double> parseNumber(llvm::StringRef text);

} // namespace mtc

#endif // MTC_PASSES_OPTIONVALUES_H
