//===- Settings.cpp - Settings of the runs of a sweep -----------------------------------------===//

#include "tools/mtc/sweep/Settings.h"

#include "support/compiler/Errors.h"
#include "support/compiler/InputFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"

using namespace mtc;
using namespace mtc::tool;
using llvm::StringRef;
using llvm::Twine;

static constexpr size_t maxRuns = 10000;
static constexpr uint64_t maxListBytes = uint64_t(16) << 20;

std::string Setting::describe() const {
  std::string text;
  for (const auto &[name, value] : flags)
    text += (text.empty() ? "" : ", ") + name + (value == "true" ? "" : "=" + value);
  return text;
}

std::string Setting::folderName() const {
  std::string name;
  for (char c : describe())
    if (c != ' ')
      name += llvm::isAlnum(c) || StringRef("=.,-_+").contains(c) ? c : '_';
  return name;
}

std::vector<std::string> Setting::arguments() const {
  std::vector<std::string> words;
  for (const auto &[name, value] : flags) {
    if (value == "false")
      continue;
    words.push_back("--" + name);
    if (value != "true")
      words.push_back(value);
  }
  return words;
}

StringRef Setting::valueOf(StringRef name) const {
  for (const auto &[own, value] : flags)
    if (own == name)
      return value;
  return "";
}

/// Parses NAME=VALUE,VALUE into one setting for each value.
static llvm::Expected<std::vector<Setting>> parseSet(StringRef text) {
  auto [name, list] = text.split('=');
  name = name.ltrim('-');
  if (name.empty() || list.empty())
    return makeUserError("--set " + text +
                         ": expected a flag of the program and its values, such as lr=1e-3,3e-4");
  std::vector<Setting> settings;
  llvm::StringSet<> known;
  for (StringRef value : llvm::split(list, ',')) {
    if (value.empty())
      return makeUserError("--set " + text + ": a value is empty");
    if (!known.insert(value).second)
      return makeUserError("--set " + text + ": '" + value + "' is given twice");
    settings.push_back({{{name.str(), value.str()}}});
  }
  return settings;
}

/// Parses a line of flags of the program.
static llvm::Expected<Setting> parseLine(const std::string &place, StringRef line) {
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::SmallVector<const char *> words;
  llvm::cl::TokenizeGNUCommandLine(line, saver, words);
  Setting setting;
  for (size_t i = 0; i < words.size(); ++i) {
    StringRef word = words[i];
    if (!word.consume_front("--") || word.empty())
      return makeUserError(place + ": expected a flag of the program, got '" + words[i] + "'");
    auto [name, value] = word.split('=');
    if (word.contains('='))
      setting.flags.push_back({name.str(), value.str()});
    else if (i + 1 < words.size() && !StringRef(words[i + 1]).starts_with("--"))
      setting.flags.push_back({name.str(), words[++i]});
    else
      setting.flags.push_back({name.str(), "true"});
  }
  return setting;
}

static llvm::Expected<std::vector<Setting>> readList(const std::string &path) {
  llvm::Expected<InputFile> file = readInputFile(path, maxListBytes, FileForm::Text);
  if (!file)
    return makeUserError("--list " + path + ": " + llvm::toString(file.takeError()));
  std::vector<Setting> settings;
  llvm::SmallVector<StringRef> lines;
  file->bytes().split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    StringRef text = line.trim();
    if (text.empty() || text.starts_with("#"))
      continue;
    llvm::Expected<Setting> setting = parseLine(path + " line " + std::to_string(number + 1), text);
    if (!setting)
      return setting.takeError();
    settings.push_back(std::move(*setting));
  }
  if (settings.empty())
    return makeUserError("--list " + path + ": has no line with flags");
  return settings;
}

/// Returns each setting of `first` with each one of `second`.
static std::vector<Setting> combine(const std::vector<Setting> &first,
                                    const std::vector<Setting> &second) {
  std::vector<Setting> all;
  for (const Setting &a : first)
    for (const Setting &b : second) {
      Setting &both = all.emplace_back(a);
      llvm::append_range(both.flags, b.flags);
    }
  return all;
}

/// Checks that no run has a flag twice, and that no two runs are equal.
static llvm::Error check(const std::vector<Setting> &settings,
                         llvm::ArrayRef<std::string> arguments) {
  llvm::StringSet<> common, names;
  for (StringRef word : arguments)
    if (word.consume_front("--"))
      common.insert(word.split('=').first);
  for (const Setting &setting : settings) {
    llvm::StringSet<> own;
    for (const auto &[name, value] : setting.flags) {
      if (!own.insert(name).second)
        return makeUserError("--" + name + ": has two values in the run " + setting.describe());
      if (common.contains(name))
        return makeUserError("--" + name + ": is a setting of the sweep, and a flag of all runs");
    }
    if (!names.insert(setting.folderName()).second)
      return makeUserError("two runs have the setting " + setting.describe());
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<Setting>> mtc::tool::listSettings(const SweepOptions &options) {
  if (options.settings.empty() && options.list.empty())
    return makeUserError("mtc sweep: no settings; give --set FLAG=VALUE,VALUE or --list FILE");
  std::vector<Setting> settings = {{}};
  auto add = [&](llvm::Expected<std::vector<Setting>> own) -> llvm::Error {
    if (!own)
      return own.takeError();
    if (settings.size() * own->size() > maxRuns)
      return makeUserError("mtc sweep: more than " + Twine(maxRuns) + " runs");
    settings = combine(settings, *own);
    return llvm::Error::success();
  };
  if (!options.list.empty())
    if (llvm::Error error = add(readList(options.list)))
      return error;
  for (const std::string &text : options.settings)
    if (llvm::Error error = add(parseSet(text)))
      return error;
  if (llvm::Error error = check(settings, options.arguments))
    return error;
  return settings;
}
