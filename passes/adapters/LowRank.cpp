//===- LowRank.cpp - Low-rank adapter specifications ------------------------------------------===//

#include "passes/adapters/LowRank.h"

#include "ir/attributes/TensorImage.h"
#include "passes/OptionValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;
using namespace mtc;

static llvm::Error takeSetting(LowRankSpec &spec, StringRef setting) {
  auto [key, value] = setting.split('=');
  if (key == "rank") {
    if (parseValue(value, spec.rank).empty() && spec.rank > 0)
      return llvm::Error::success();
    return llvm::createStringError("rank: expected a whole number of at least 1, got '" + value +
                                   "'");
  }
  if (key == "alpha") {
    spec.alpha = parseNumber(value).value_or(0);
    std::string problem = checkPositive(spec.alpha);
    if (problem.empty())
      return llvm::Error::success();
    return llvm::createStringError("alpha: " + problem + ", got '" + value + "'");
  }
  return llvm::createStringError("unknown setting '" + key + "'; expected rank or alpha");
}

llvm::Expected<LowRankSpec> LowRankSpec::parse(StringRef text) {
  LowRankSpec spec;
  spec.text = text.str();
  llvm::StringSet<> seen;
  // A colon separates the settings only if an '=' follows, since names may contain colons.
  auto [pattern, settings] = text.rsplit(':');
  if (!settings.contains('='))
    pattern = text;
  else
    for (StringRef setting : llvm::split(settings, ',')) {
      StringRef key = setting.split('=').first;
      if (!seen.insert(key).second)
        return llvm::createStringError("'" + key + "' is given twice; expected one value");
      if (llvm::Error error = takeSetting(spec, setting))
        return error;
    }
  spec.pattern = pattern.str();
  if (pattern.empty())
    return llvm::createStringError("expected PATTERN or PATTERN:rank=8,alpha=16");
  if (llvm::Error error = llvm::GlobPattern::create(pattern).takeError())
    return error;
  return spec;
}

std::optional<size_t> LowRankSpec::findMatch(VariableOp variable) const {
  llvm::GlobPattern glob = llvm::cantFail(llvm::GlobPattern::create(pattern));
  if (llvm::none_of(namesOf(variable), [&](StringRef name) { return glob.match(name); }))
    return std::nullopt;
  return llvm::count_if(pattern, [](char c) { return c != '*' && c != '?'; });
}
