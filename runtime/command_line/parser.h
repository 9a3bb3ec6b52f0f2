// From the words of a command line to flags with their values, by CLI11.
#ifndef MTC_RUNTIME_COMMAND_LINE_PARSER_H
#define MTC_RUNTIME_COMMAND_LINE_PARSER_H

#include "runtime/command_line/flag.h"

#include <functional>

namespace mtc::command_line {

/// A flag on the command line.
struct GivenFlag {
  const Flag *flag;
  std::string value; ///< "true" for a switch, and for an optional value that was left out
};

struct ParsedLine {
  std::vector<GivenFlag> given;      ///< in the order of `flags`
  std::vector<std::string> operands; ///< words that are neither a flag nor a value
  std::vector<std::string> problems; ///< each a message; empty if the line is well-formed

  bool has(const std::string &name) const;
};

/// Parses the words after the command. Values are `--flag VALUE` or `--flag=VALUE`; `--` ends the
/// flags. `describeUnknown` returns the message about a flag that is not among `flags`, given with
/// its dashes. The result refers to `flags`.
ParsedLine parse(const std::vector<Flag> &flags, const std::vector<std::string> &words,
                 const std::function<std::string(const std::string &)> &describeUnknown);

} // namespace mtc::command_line

#endif // MTC_RUNTIME_COMMAND_LINE_PARSER_H
