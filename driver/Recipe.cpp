//===- Recipe.cpp - Flags from a recipe file --------------------------------------------------===//

#include "driver/Recipe.h"
#include "driver/Report.h"
#include "driver/Toml.h"
#include "driver/TomlKeys.h"

#include "support/compiler/InputFile.h"
#include "support/compiler/Problems.h"

#include <charconv>

using llvm::StringRef;
using llvm::Twine;
using namespace mtc;
using namespace mtc::tool;

/// Returns a value in the syntax of the command line.
static std::string spell(StringRef path, StringRef key, const toml::node &node) {
  if (auto text = node.value_exact<std::string>()) {
    // A zero byte would terminate file names.
    if (StringRef(*text).contains('\0'))
      fail("--recipe " + path + ": key '" + key + "': the value contains a zero byte");
    return *text;
  }
  if (auto number = node.value_exact<double>()) {
    char digits[32]; // Sufficient for the shortest exact representation.
    return std::string(digits, std::to_chars(std::begin(digits), std::end(digits), *number).ptr);
  }
  if (auto number = node.value_exact<int64_t>())
    return std::to_string(*number);
  if (auto truth = node.value_exact<bool>())
    return *truth ? "true" : "false";
  fail("--recipe " + path + ": key '" + key + "': expected a string, number or boolean");
}

namespace {

/// The value of a flag, and the NAME of a NAME=VALUE pair.
struct Entry {
  std::string text, name;
};

} // namespace

/// Returns a nested array with colons between its values, as in 100:0.001.
static std::string spellPoint(StringRef path, StringRef key, const toml::array &values) {
  std::string text;
  for (const toml::node &value : values)
    text += (text.empty() ? "" : ":") + spell(path, key, value);
  return text;
}

/// Returns a table as KEY=VALUE shell words.
static std::string spellWords(StringRef path, StringRef key, const toml::table &values) {
  std::string text;
  auto add = [&](StringRef name, const toml::node &value) {
    text += (text.empty() ? "" : " ") + name.str() + "=";
    for (char c : spell(path, key, value))
      text += (StringRef(" \t\"'\\").contains(c) ? "\\" : "") + std::string(1, c);
  };
  for (auto &&[name, value] : values)
    if (const toml::array *list = value.as_array())
      for (const toml::node &element : *list)
        add(name.str(), element);
    else
      add(name.str(), value);
  return text;
}

/// Returns an element of an array.
static std::string spellElement(StringRef path, StringRef key, const toml::node &node) {
  if (const toml::array *values = node.as_array())
    return spellPoint(path, key, *values);
  if (const toml::table *values = node.as_table())
    return spellWords(path, key, *values);
  return spell(path, key, node);
}

/// Returns the entries of a key.
static std::vector<Entry> spellAll(StringRef path, StringRef key, const toml::node &node,
                                   bool isPairs) {
  std::vector<Entry> entries;
  auto add = [&](const std::string &text) {
    entries.push_back({text, text.substr(0, text.find('='))});
  };
  if (const toml::array *array = node.as_array()) {
    for (const toml::node &element : *array)
      add(spellElement(path, key, element));
  } else if (const toml::table *pairs = node.as_table(); pairs && isPairs) {
    for (auto &&[inner, element] : *pairs) {
      std::string name(inner.str());
      entries.push_back({name + "=" + spell(path, key, element), name});
    }
  } else {
    add(spellElement(path, key, node));
  }
  return entries;
}

/// No flag requires a deeper key.
static constexpr int64_t maxKeyParts = 16;
static constexpr uint64_t maxRecipeBytes = uint64_t(4) << 20;

static toml::table readRecipe(StringRef path) {
  llvm::Expected<InputFile> file = readInputFile(path, maxRecipeBytes, FileForm::Text);
  if (!file)
    fail("--recipe " + path + ": " + llvm::toString(file.takeError()));
  if (std::optional<int64_t> line = findDeepKey(file->bytes(), maxKeyParts))
    fail("--recipe " + path + ": line " + Twine(*line) + ": a key has more than " +
         Twine(maxKeyParts) + " parts; expected a flag name");
  try {
    return toml::parse(std::string_view(file->bytes()));
  } catch (const toml::parse_error &error) {
    fail("--recipe " + path + ": line " + Twine(error.source().begin.line) + ": " +
         error.description());
  }
}

void mtc::tool::applyRecipe(StringRef path, const FlagTable &flags, Command command) {
  const toml::table table = readRecipe(path);
  for (auto &&[name, node] : table) {
    StringRef key(name.str().data(), name.str().size());
    Flag *flag = flags.find(key, command);
    // A recipe describes training. The gradient depends on the model and the loss only.
    if (!flag && command == Command::Gradient)
      if (const Flag *other = flags.find(key, Command::Compile); other && other->isInRecipe)
        continue;
    if (!flag || !flag->isInRecipe)
      fail("--recipe " + path + ": key " + quoted(key) + ": not a flag of recipes");
    // The command line has precedence.
    if (flag->isGiven() && !flag->isPairs)
      continue;
    const std::vector<Entry> entries = spellAll(path, key, node, flag->isPairs);
    if (entries.size() != 1 && !flag->isRepeatable)
      fail("--recipe " + path + ": key '" + key + "': expected one value, got " +
           Twine(entries.size()));
    const std::vector<std::string> given =
        flag->isPairs ? flag->values : std::vector<std::string>();
    for (const Entry &entry : entries)
      if (llvm::none_of(given, [&](StringRef text) { return text.starts_with(entry.name + "="); }))
        flag->values.push_back(entry.text);
  }
}
