// Parses a command line into flags and their values, with CLI11.
#ifndef MTC_SUPPORT_COMMAND_LINE_PARSER_H
#define MTC_SUPPORT_COMMAND_LINE_PARSER_H

#include "support/command_line/flag.h"

#include <functional>

namespace mtc::command_line {

/// A flag on the command line.
struct GivenFlag {
  const Flag *flag;
  std::string value; ///< "true" for a switch, and for an omitted optional value
};

struct ParsedLine {
  std::vector<GivenFlag> given;      ///< in the order of `flags`
  std::vector<std::string> operands; ///< arguments that are neither a flag nor a value
  std::vector<std::string> problems; ///< one message each; empty if the command line is well-formed

  bool has(const std::string &name) const;
};

/// Parses the arguments after the command. Values are `--flag VALUE` or `--flag=VALUE`; `--` ends
/// the flags. `describeUnknown` returns the message for a flag, given with its dashes, that is not
/// in `flags`. The result refers to `flags`.
ParsedLine parse(const std::vector<Flag> &flags, const std::vector<std::string> &words,
                 const std::function<std::string(const std::string &)> &describeUnknown);

} // namespace mtc::command_line

#endif // MTC_SUPPORT_COMMAND_LINE_PARSER_H
