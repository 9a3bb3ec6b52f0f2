// Flags of a command line. The compiler's commands and compiled programs describe their flags with
// these records; parsing, help, shell completion and reference pages are derived from them.
#ifndef MTC_SUPPORT_COMMAND_LINE_FLAG_H
#define MTC_SUPPORT_COMMAND_LINE_FLAG_H

#include <string>
#include <vector>

namespace mtc::command_line {

/// One of the values that a flag accepts.
struct Choice {
  std::string name, summary;
};

struct Flag {
  std::string name = {};         ///< without dashes; a single letter is a short flag, as in -o
  std::string value = {};        ///< placeholder for the value, such as FILE; empty for a switch
  std::string summary = {};      ///< a phrase without a period, of at most 70 characters
  std::string detail = {};       ///< sentences for --help-all and the reference
  std::string defaultValue = {}; ///< in the form that the help shows; empty if there is none
  std::string group = {};        ///< heading in the help
  bool isCommon = false;         ///< shown by --help; --help-all shows every flag
  bool isRepeatable = false;     ///< may be given more than once
  bool isValueOptional = false;
  std::vector<Choice> choices = {}; ///< all accepted values; empty if any value is accepted

  /// Returns "--name", or "-o" for a single letter.
  std::string spelling() const { return (name.size() == 1 ? "-" : "--") + name; }
  /// Returns whether the next argument is the flag's value.
  bool needsValue() const { return !value.empty() && !isValueOptional; }
};

/// --help and --help-all, which every command has.
std::vector<Flag> helpFlags();

} // namespace mtc::command_line

#endif // MTC_SUPPORT_COMMAND_LINE_FLAG_H
