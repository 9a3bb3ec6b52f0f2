// Collects all errors of a command line, whereas CLI11 stops at the first.
#include "support/command_line/parser.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <iterator>

namespace mtc::command_line {
namespace {

/// Returns the flag of an argument "--name" or "--name=value"; null if there is none.
const Flag *findFlag(const std::vector<Flag> &flags, const std::string &word) {
  const std::string spelling = word.substr(0, word.find('='));
  const auto found = std::find_if(flags.begin(), flags.end(),
                                  [&](const Flag &flag) { return flag.spelling() == spelling; });
  return found == flags.end() ? nullptr : &*found;
}

/// Returns whether one of `words` starts with the flag. A word of one dash, such as -hx, may
/// consist of several short flags.
bool mayBeGiven(const Flag &flag, const std::vector<std::string> &words) {
  const std::string spelling = flag.spelling();
  return flag.name == "help" || spelling.rfind("--", 0) != 0 ||
         std::any_of(words.begin(), words.end(),
                     [&](const std::string &word) { return word.rfind(spelling, 0) == 0; });
}

/// Rejects arguments that CLI11 would misinterpret: it accepts the next argument as the value of
/// `--flag=`, and a flag as the value of the previous flag.
void checkWords(const std::vector<Flag> &flags, const std::vector<std::string> &words,
                std::vector<std::string> &problems) {
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const Flag *flag = words[i].rfind('-', 0) == 0 ? findFlag(flags, words[i]) : nullptr;
    if (!flag || !flag->needsValue())
      continue;
    if (const size_t equals = words[i].find('='); equals != std::string::npos) {
      if (equals + 1 == words[i].size())
        problems.push_back(words[i] + ": expected " + flag->value + " after the equals sign");
      continue;
    }
    ++i;
    if (i == words.size() || (words[i].rfind("--", 0) == 0 && findFlag(flags, words[i])))
      problems.push_back(flag->spelling() + ": expected " + flag->value +
                         (i == words.size() ? "" : ", got the flag " + words[i]));
  }
}

} // namespace

std::vector<Flag> helpFlags() {
  Flag help;
  help.name = "help";
  help.summary = "Show the most used flags";
  help.group = "Help";
  Flag all = help;
  all.name = "help-all";
  all.summary = "Show every flag";
  return {help, all};
}

bool ParsedLine::has(const std::string &name) const {
  return std::any_of(given.begin(), given.end(),
                     [&](const GivenFlag &each) { return each.flag->name == name; });
}

ParsedLine parse(const std::vector<Flag> &flags, const std::vector<std::string> &words,
                 const std::function<std::string(const std::string &)> &describeUnknown) {
  ParsedLine line;
  checkWords(flags, words, line.problems);
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  // CLI11 compares each option with all others, so only options that occur in the arguments are
  // added.
  std::vector<std::pair<const Flag *, CLI::Option *>> options;
  for (const Flag &flag : flags)
    if (mayBeGiven(flag, words))
      options.emplace_back(&flag, (flag.needsValue()     ? app.add_option(flag.spelling())
                                   : flag.name == "help" ? app.add_flag("-h,--help")
                                                         : app.add_flag(flag.spelling()))
                                      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll));
  const auto end = std::find(words.begin(), words.end(), "--"); // Operands follow.
  try {
    app.parse(std::vector<std::string>(std::make_reverse_iterator(end), words.rend()));
  } catch (const CLI::ParseError &error) {
    // `checkWords` has already reported a value that is missing at the end of the line.
    if (line.problems.empty())
      line.problems.emplace_back(error.what());
  }
  for (const auto &[flag, option] : options) {
    const std::vector<std::string> &values = option->results();
    if (values.size() > 1 && !flag->isRepeatable)
      line.problems.push_back(flag->spelling() + " is given " + std::to_string(values.size()) +
                              " times; give it once");
    for (const std::string &value : values)
      line.given.push_back({flag, value});
  }
  auto isFlag = [](const std::string &word) { return word.size() > 1 && word[0] == '-'; };
  const std::vector<std::string> rest = app.remaining();
  for (size_t i = 0; i < rest.size(); ++i) {
    if (!isFlag(rest[i])) {
      line.operands.push_back(rest[i]);
      continue;
    }
    line.problems.push_back(describeUnknown(rest[i].substr(0, rest[i].find('='))));
    // The argument after an unknown flag is probably its value rather than an operand.
    const auto at = std::find(words.begin(), words.end(), rest[i]);
    if (rest[i].find('=') == std::string::npos && i + 1 < rest.size() && end - at > 1 &&
        at[1] == rest[i + 1] && !isFlag(at[1]))
      ++i;
  }
  if (end != words.end())
    line.operands.insert(line.operands.end(), end + 1, words.end());
  return line;
}

} // namespace mtc::command_line
