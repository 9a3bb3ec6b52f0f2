//===- LowRank.cpp - Low-rank adapter specifications ------------------------------------------===//

#include "passes/adapters/LowRank.h"

#include "ir/attributes/TensorImage.h"
#include "passes/OptionValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

#include <cmath>

using namespace mlir;
using namespace mtc;

static llvm::Error makeError(StringRef key, const Twine &problem, StringRef value) {
  return llvm::createStringError(key + ": " + problem + ", got '" + value + "'");
}

/// Sets one setting. A number alone is a rank, a switch alone is on.
static llvm::Error takeSetting(LowRankSpec &spec, StringRef key, StringRef value) {
  auto takeSwitch = [&](bool &isOn) {
    std::string problem = parseValue(value, isOn);
    return problem.empty() ? llvm::Error::success() : makeError(key, problem, value);
  };
  if (key == "rank") {
    if (parseValue(value, spec.rank).empty() && spec.rank > 0)
      return llvm::Error::success();
    return makeError(key, "expected a whole number of at least 1", value);
  }
  if (key == "alpha") {
    spec.alpha = parseNumber(value).value_or(0);
    std::string problem = checkPositive(spec.alpha);
    return problem.empty() ? llvm::Error::success() : makeError(key, problem, value);
  }
  if (key == "dropout") {
    spec.dropout = parseNumber(value).value_or(-1);
    if (spec.dropout >= 0 && spec.dropout < 1)
      return llvm::Error::success();
    return makeError(key, "expected a probability of at least 0 and less than 1", value);
  }
  if (key == "rslora")
    return takeSwitch(spec.rankStabilized);
  if (key == "dora")
    return takeSwitch(spec.trainsMagnitude);
  return llvm::createStringError("unknown setting '" + key +
                                 "'; expected rank, alpha, dropout, rslora or dora");
}

static bool isRank(StringRef text) {
  int64_t rank = 0;
  return parseValue(text, rank).empty() && rank > 0;
}

/// Returns whether the text after a colon consists of settings. Names may contain colons, so that
/// at least one item must have a form that is a setting.
static bool areSettings(StringRef text) {
  return llvm::any_of(llvm::split(text, ','), [](StringRef item) {
    return item.contains('=') || item == "rslora" || item == "dora" || isRank(item);
  });
}

llvm::Expected<LowRankSpec> LowRankSpec::parse(StringRef text) {
  LowRankSpec spec;
  spec.text = text.str();
  if (isRank(text))
    return llvm::createStringError("a rank without a pattern; expected PATTERN:rank=" + text +
                                   ",alpha=" + text + ", such as '*:rank=" + text + "'");
  llvm::StringSet<> seen;
  auto [pattern, settings] = text.rsplit(':');
  if (!areSettings(settings))
    pattern = text;
  else
    for (StringRef setting : llvm::split(settings, ',')) {
      auto [key, value] = setting.split('=');
      if (isRank(setting))
        std::tie(key, value) = std::pair(StringRef("rank"), setting);
      if (!seen.insert(key).second)
        return llvm::createStringError("'" + key + "' is given twice; expected one value");
      if (llvm::Error error = takeSetting(spec, key, value))
        return error;
    }
  spec.pattern = pattern.str();
  if (pattern.empty())
    return llvm::createStringError("expected PATTERN or PATTERN:rank=8,alpha=16");
  if (llvm::Error error = llvm::GlobPattern::create(pattern).takeError())
    return error;
  return spec;
}

double LowRankSpec::scale() const {
  const auto divisor = static_cast<double>(rank);
  return alpha / (rankStabilized ? std::sqrt(divisor) : divisor);
}

std::optional<size_t> LowRankSpec::findMatch(VariableOp variable) const {
  llvm::GlobPattern glob = llvm::cantFail(llvm::GlobPattern::create(pattern));
  auto matches = [&](StringRef name) {
    return glob.match(name) || (name.consume_back(".weight") && glob.match(name));
  };
  if (llvm::none_of(namesOf(variable), matches))
    return std::nullopt;
  return llvm::count_if(pattern, [](char c) { return c != '*' && c != '?'; });
}
