// Formats one line per flag: spelling, summary and default.
#include "support/command_line/help.h"

#include <algorithm>

namespace mtc::command_line {
namespace {

constexpr size_t minColumn = 20, maxColumn = 30, lineWidth = 100;

/// Returns "  --name VALUE".
std::string leftColumn(const Flag &flag) {
  std::string text = "  " + flag.spelling();
  if (flag.isValueOptional)
    return text + "[=" + flag.value + "]";
  return flag.value.empty() ? text : text + " " + flag.value;
}

/// Wraps words into indented lines of at most `lineWidth` characters.
std::string wrap(const std::string &words, size_t indent) {
  std::string text, line;
  for (size_t begin = 0, end = 0; begin < words.size(); begin = end + 1) {
    end = std::min(words.find(' ', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    if (!line.empty() && indent + line.size() + 1 + word.size() > lineWidth) {
      text += std::string(indent, ' ') + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? text : text + std::string(indent, ' ') + line + "\n";
}

/// Returns the detail and the choices of a flag, which --help-all adds after its line.
std::string describeMore(const Flag &flag, size_t indent) {
  std::string text = wrap(flag.detail, indent);
  size_t width = 0;
  for (const Choice &choice : flag.choices)
    width = std::max(width, choice.name.size());
  for (const Choice &choice : flag.choices) {
    std::string name = choice.name;
    if (!choice.summary.empty())
      name.resize(width + 2, ' ');
    text += std::string(indent, ' ') + name + choice.summary + "\n";
  }
  return text;
}

} // namespace

std::string describeFlags(const std::vector<Flag> &flags, bool showsAll) {
  std::vector<const Flag *> shown;
  std::vector<std::string> groups;
  size_t column = minColumn;
  for (const Flag &flag : flags) {
    if (!showsAll && !flag.isCommon)
      continue;
    shown.push_back(&flag);
    if (std::find(groups.begin(), groups.end(), flag.group) == groups.end())
      groups.push_back(flag.group);
    column = std::max(column, std::min(leftColumn(flag).size() + 2, maxColumn));
  }
  std::string text;
  for (const std::string &group : groups) {
    text += "\n" + group + ":\n";
    for (const Flag *flag : shown) {
      if (flag->group != group)
        continue;
      std::string left = leftColumn(*flag);
      // A long spelling gets a separate line.
      if (left.size() + 2 > column) {
        text += left + "\n";
        left.clear();
      }
      left.resize(column, ' ');
      text += left + flag->summary;
      if (!flag->defaultValue.empty())
        text += " (default: " + flag->defaultValue + ")";
      text += "\n";
      if (showsAll)
        text += describeMore(*flag, column + 2);
    }
  }
  return text;
}

} // namespace mtc::command_line
