//===- Recipe.cpp - Flags from a file ---------------------------------------------------------===//

#include "Recipe.h"
#include "Report.h"

#include "llvm/Support/CommandLine.h"

#include <sstream>
#include <toml++/toml.h>

namespace cl = llvm::cl;
using llvm::StringRef;
using llvm::Twine;
using namespace mtc::tool;

/// A value as one would type it behind the flag.
static std::string spell(StringRef path, StringRef key, const toml::node &node) {
  if (auto text = node.value_exact<std::string>())
    return *text;
  if (node.is_integer() || node.is_floating_point() || node.is_boolean()) {
    std::ostringstream stream;
    node.visit([&](const auto &value) { stream << value; });
    return stream.str();
  }
  fail("--recipe " + path + ": key '" + key + "': expected a string, number or boolean");
}

static void give(StringRef path, StringRef key, cl::Option &option, const std::string &value) {
  // The option reports a value that it does not understand itself; the message names the flag.
  if (option.addOccurrence(0, key, value))
    fail("--recipe " + path + ": key '" + key + "': unsuitable value '" + value + "'");
}

void mtc::tool::applyRecipe(StringRef path, cl::SubCommand &command) {
  toml::table table;
  try {
    table = toml::parse_file(path.str());
  } catch (const toml::parse_error &error) {
    fail("--recipe " + path + ": line " + Twine(error.source().begin.line) + ": " +
         error.description());
  }
  auto &options = cl::getRegisteredOptions(command);
  for (auto &&[name, node] : table) {
    StringRef key(name.str().data(), name.str().size());
    auto it = options.find(key);
    if (it == options.end() || key == "recipe")
      fail("--recipe " + path + ": key '" + key + "': there is no such flag");
    cl::Option &option = *it->second;
    if (option.getNumOccurrences())
      continue; // The command line wins.
    if (const toml::array *array = node.as_array()) {
      for (const toml::node &element : *array)
        give(path, key, option, spell(path, key, element));
    } else if (const toml::table *pairs = node.as_table()) {
      for (auto &&[inner, element] : *pairs)
        give(path, key, option, std::string(inner.str()) + "=" + spell(path, key, element));
    } else {
      give(path, key, option, spell(path, key, node));
    }
  }
}
