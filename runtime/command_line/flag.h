// Flags of a command line. The compiler's commands and the programs that it writes describe theirs
// with these records, and parsing, help, shell completion and reference pages follow from them.
#ifndef MTC_RUNTIME_COMMAND_LINE_FLAG_H
#define MTC_RUNTIME_COMMAND_LINE_FLAG_H

#include <string>
#include <vector>

namespace mtc::command_line {

/// One of the values that a flag accepts.
struct Choice {
  std::string name, summary;
};

struct Flag {
  std::string name = {};         ///< without dashes; a single letter is a short flag, as in -o
  std::string value = {};        ///< placeholder of the value, such as FILE; empty for a switch
  std::string summary = {};      ///< a phrase without a period, of at most 70 characters
  std::string detail = {};       ///< sentences for --help-all and the reference
  std::string defaultValue = {}; ///< as the help shows it; empty if there is none
  std::string group = {};        ///< heading in the help
  bool isCommon = false;         ///< shown by --help; --help-all shows every flag
  bool isRepeatable = false;     ///< may be given several times
  bool isValueOptional = false;
  std::vector<Choice> choices = {}; ///< every value; empty if there are others

  /// "--name", or "-o".
  std::string spelling() const { return (name.size() == 1 ? "-" : "--") + name; }
  /// Whether the word after the flag is its value.
  bool needsValue() const { return !value.empty() && !isValueOptional; }
};

/// --help and --help-all, which every command has.
std::vector<Flag> helpFlags();

} // namespace mtc::command_line

#endif // MTC_RUNTIME_COMMAND_LINE_FLAG_H
