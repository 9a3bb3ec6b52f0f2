// The flags of a compiled program.
#ifndef MTC_RUNTIME_LOOP_OPTION_FLAGS_H
#define MTC_RUNTIME_LOOP_OPTION_FLAGS_H

#include "runtime/abi/number.h"
#include "runtime/loop/options.h"
#include "runtime/support/failure.h"
#include "support/command_line/flag.h"

#include <charconv>
#include <limits>
#include <string>
#include <vector>

namespace mtc::runtime {

/// The value of the flag that is being parsed. Invalid values are user errors.
struct FlagValue {
  const MtcProgram &program;
  const std::string &flag, &text;

  template <typename Number> Number number(Number min, Number max) const {
    Number result{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size() || result < min || result > max)
      userError(flag, " ", text, ": expected a whole number of at least ", min,
                max == std::numeric_limits<Number>::max() ? std::string()
                                                          : runtime::text(" and at most ", max));
    return result;
  }
  int64_t count(int64_t min) const {
    return number<int64_t>(min, std::numeric_limits<int64_t>::max());
  }
  /// Parses a number as the compiler does. The value must be at least 0.
  template <typename Number> Number atLeastZero() const {
    Number result{};
    if (const std::string problem = abi::parseNumber(text, result); !problem.empty())
      userError(flag, " ", text, ": ", problem);
    if (result < 0)
      userError(flag, " ", text, ": expected a number of at least 0");
    return result;
  }
  /// Parses a size, such as 200MB or 2GiB.
  int64_t bytes() const;
  /// Parses a learning rate, with which programs compute in f32.
  double rate() const {
    const double result = atLeastZero<double>();
    if (result > abi::maxF32)
      userError(flag, " ", text, ": expected a number of at least 0 and at most 3.4e+38");
    return result;
  }
  std::string file() const {
    if (text.empty())
      userError(flag, ": expected the name of a file");
    return text;
  }
};

/// A flag and the option that it sets. The value of a switch is "true".
struct OptionFlag {
  command_line::Flag line;
  void (*apply)(Options &, const FlagValue &);
  bool writesFiles = false; ///< the value is a file or folder that the run writes
};

/// Returns the flags of a program in the order of the help.
std::vector<OptionFlag> optionFlags(const MtcProgram &program);

} // namespace mtc::runtime

#endif // MTC_RUNTIME_LOOP_OPTION_FLAGS_H
