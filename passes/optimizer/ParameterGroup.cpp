//===- ParameterGroup.cpp - Per-group optimizer settings --------------------------------------===//

#include "passes/optimizer/ParameterGroup.h"

#include "ir/attributes/TensorImage.h"
#include "passes/OptionValues.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace mtc;

static llvm::Error problem(const Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// Returns an error if a comma precedes a setting, since the setting would become part of the
/// pattern, and "" otherwise.
static std::string checkSeparators(StringRef pattern) {
  StringRef setting = pattern.rsplit(',').second, key = setting.split('=').first;
  if (!setting.contains('=') ||
      !llvm::all_of(key, [](char c) { return llvm::isLower(c) || llvm::isDigit(c) || c == '-'; }))
    return "";
  return ("comma before '" + setting + "'; separate settings with spaces").str();
}

llvm::Expected<ParameterGroup> ParameterGroup::parse(StringRef text) {
  ParameterGroup group;
  group.text = text.str();
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  SmallVector<const char *> words;
  llvm::cl::TokenizeGNUCommandLine(text, saver, words);
  llvm::StringSet<> seen;
  for (StringRef word : words) {
    auto [key, value] = word.split('=');
    if (key != "match" && !seen.insert(key).second)
      return problem("'" + key + "' is given twice; expected one value");
    if (llvm::Error error = group.take(key, value))
      return error;
  }
  if (llvm::Error error = group.check())
    return error;
  return group;
}

llvm::Error ParameterGroup::take(StringRef key, StringRef value) {
  if (value.empty())
    return problem("'" + key + "': expected KEY=VALUE");
  if (key == "match") {
    if (std::string comma = checkSeparators(value); !comma.empty())
      return problem(comma);
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(value);
    patterns.push_back(value.str());
    return pattern.takeError();
  }
  if (key == "frozen") {
    isFrozen = value == "true";
    return isFrozen || value == "false"
               ? llvm::Error::success()
               : problem("frozen: expected true or false, got '" + value + "'");
  }
  if (key == "optimizer") {
    optimizer = findOptimizer(value);
    return optimizer ? llvm::Error::success() : problem("unknown optimizer '" + value + "'");
  }
  if (key == "optimizer-bits") {
    unsigned bits = 0;
    if (value.getAsInteger(10, bits) || (bits != 32 && bits != 8 && bits != 4))
      return problem("optimizer-bits: expected 32, 8 or 4, got '" + value + "'");
    stateBits = bits;
    return llvm::Error::success();
  }
  if (key != "lr-factor")
    return takeNumbers(key, value);
  std::optional<double> factor = parseNumber(value);
  if (!factor || *factor < 0.0)
    return problem("lr-factor: expected a number of at least 0, got '" + value + "'");
  rateFactor = factor;
  return llvm::Error::success();
}

/// Sets the hyperparameter, or the several hyperparameters, of one flag.
llvm::Error ParameterGroup::takeNumbers(StringRef key, StringRef value) {
  llvm::MapVector<StringRef, const Hyperparameter *> meant;
  for (const OptimizerKind &kind : getOptimizers())
    for (const Hyperparameter &each : kind.hyperparameters)
      if ((each.sharedFlag.empty() ? each.name : each.sharedFlag) == key)
        meant.insert({each.name, &each});
  if (meant.empty())
    return problem("unknown setting '" + key +
                   "'; expected match, frozen, optimizer, optimizer-bits, lr-factor or an "
                   "optimizer setting such as lr or weight-decay");
  SmallVector<StringRef> texts = llvm::to_vector(llvm::split(value, ','));
  if (texts.size() != meant.size())
    return problem(key + ": expected " + Twine(meant.size()) + " values, got '" + value + "'");
  for (auto [text, entry] : llvm::zip_equal(texts, meant)) {
    const Hyperparameter &hyperparameter = *entry.second;
    double number = 0.0;
    const auto *choice =
        llvm::find_if(hyperparameter.choices,
                      [&](const HyperparameterChoice &each) { return each.name == text; });
    if (!hyperparameter.choices.empty() && choice == hyperparameter.choices.end())
      return problem(entry.first + ": invalid value '" + text + "'");
    if (!hyperparameter.choices.empty())
      number = static_cast<double>(choice - hyperparameter.choices.begin());
    else if (std::string wrong = parseValue(text, number); !wrong.empty())
      return problem(entry.first + " '" + text + "': " + wrong);
    numbers[entry.first.str()] = number;
  }
  return llvm::Error::success();
}

llvm::Error ParameterGroup::check() const {
  if (patterns.empty())
    return problem("expected match=PATTERN, which selects the parameters");
  bool isEmpty = !optimizer && numbers.empty() && !rateFactor && !stateBits;
  if (isFrozen)
    return isEmpty ? llvm::Error::success()
                   : problem("frozen parameters have no other settings; expected only match");
  if (isEmpty)
    return problem("expected a setting such as lr=1e-3 or frozen=true after the pattern");
  if (rateFactor && numbers.contains("lr"))
    return problem("lr and lr-factor both set the learning rate; expected one of them");
  for (const auto &[name, value] : numbers) {
    const Hyperparameter *hyperparameter =
        optimizer ? optimizer->findHyperparameter(name) : nullptr;
    if (optimizer && !hyperparameter)
      return problem("optimizer '" + optimizer->name + "' has no " + name);
    if (hyperparameter && hyperparameter->choices.empty() && !hyperparameter->accepts(value))
      return problem(name + " of " + optimizer->name + " must be " +
                     hyperparameter->describeRange());
  }
  return llvm::Error::success();
}

std::optional<size_t> ParameterGroup::findMatch(VariableOp parameter) const {
  SmallVector<StringRef> names = namesOf(parameter);
  std::optional<size_t> longest;
  for (StringRef text : patterns) {
    llvm::GlobPattern pattern = *llvm::GlobPattern::create(text);
    if (llvm::none_of(names, [&](StringRef name) { return pattern.match(name); }))
      continue;
    size_t literals = llvm::count_if(text, [](char c) { return c != '*' && c != '?'; });
    longest = std::max(longest.value_or(0), literals);
  }
  return longest;
}
