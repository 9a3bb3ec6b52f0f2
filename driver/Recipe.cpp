//===- Recipe.cpp - Flags from a file ---------------------------------------------------------===//

#include "driver/Recipe.h"
#include "driver/Report.h"
#include "driver/Toml.h"

#include <charconv>

namespace cl = llvm::cl;
using llvm::StringRef;
using llvm::Twine;
using namespace mtc::tool;

/// A value as one would type it behind the flag.
static std::string spell(StringRef path, StringRef key, const toml::node &node) {
  if (auto text = node.value_exact<std::string>())
    return *text;
  if (auto number = node.value_exact<double>()) {
    char digits[32]; // as many as tell it from every other
    return std::string(digits, std::to_chars(std::begin(digits), std::end(digits), *number).ptr);
  }
  if (auto number = node.value_exact<int64_t>())
    return std::to_string(*number);
  if (auto truth = node.value_exact<bool>())
    return *truth ? "true" : "false";
  fail("--recipe " + path + ": key '" + key + "': expected a string, number or boolean");
}

static void give(StringRef path, StringRef key, cl::Option &option, const std::string &value) {
  // The option reports a value that it does not understand itself; the message names the flag.
  if (option.addOccurrence(0, key, value))
    fail("--recipe " + path + ": key '" + key + "': unsuitable value '" + value + "'");
}

namespace {

/// What one would type behind a flag, and the NAME of a NAME=VALUE.
struct Entry {
  std::string text, name;
};

} // namespace

/// The entries that a key stands for.
static std::vector<Entry> spellAll(StringRef path, StringRef key, const toml::node &node) {
  std::vector<Entry> entries;
  auto add = [&](const toml::node &value) {
    std::string text = spell(path, key, value);
    entries.push_back({text, text.substr(0, text.find('='))});
  };
  if (const toml::array *array = node.as_array()) {
    for (const toml::node &element : *array)
      add(element);
  } else if (const toml::table *pairs = node.as_table()) {
    for (auto &&[inner, element] : *pairs) {
      std::string name(inner.str());
      entries.push_back({name + "=" + spell(path, key, element), name});
    }
  } else {
    add(node);
  }
  return entries;
}

void mtc::tool::applyRecipe(StringRef path, const FlagTable &flags, cl::SubCommand &command) {
  toml::table table;
  try {
    table = toml::parse_file(path.str());
  } catch (const toml::parse_error &error) {
    fail("--recipe " + path + ": line " + Twine(error.source().begin.line) + ": " +
         error.description());
  }
  for (auto &&[name, node] : table) {
    StringRef key(name.str().data(), name.str().size());
    const Flag *flag = flags.find(key, command);
    if (!flag || !flag->isInRecipe)
      fail("--recipe " + path + ": key '" + key + "': there is no such flag for a recipe");
    // The command line wins.
    if (flag->isGiven() && !flag->isPairs)
      continue;
    const std::vector<Entry> entries = spellAll(path, key, node);
    if (entries.size() > 1 && !flag->texts)
      fail("--recipe " + path + ": key '" + key + "': expected one value, found " +
           Twine(entries.size()));
    const std::vector<std::string> given =
        flag->isPairs ? *flag->texts : std::vector<std::string>();
    for (const Entry &entry : entries)
      if (llvm::none_of(given, [&](StringRef text) { return text.starts_with(entry.name + "="); }))
        give(path, key, *flag->option, entry.text);
  }
}
