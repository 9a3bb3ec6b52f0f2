//===- FlagValues.cpp - Values of flags that need parsing -------------------------------------===//

#include "driver/FlagValues.h"

#include "passes/OptionValues.h"
#include "passes/adapters/LowRank.h"
#include "runtime/abi/number.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using llvm::StringRef;
using llvm::Twine;
using namespace mtc;
using namespace mtc::tool;

std::string mtc::tool::takeEmit(Options &options, StringRef text) {
  if (std::optional<Stage> stage = symbolizeStage(text))
    options.stage = *stage;
  options.result = llvm::StringSwitch<Result>(text)
                       .Case("llvm", Result::Llvm)
                       .Case("object", Result::Object)
                       .Case("library", Result::Library)
                       .Default(Result::Text);
  return "";
}

/// Splits NAME=N at the last `=`, since dimension names may contain `=`. The sizes of a list belong
/// to the shapes of the program: entry i of each list to shape i.
std::string mtc::tool::takeDim(Options &options, StringRef text) {
  auto [name, value] = text.rsplit('=');
  if (name.empty() || value.empty())
    return "expected NAME=N";
  std::vector<int64_t> sizes;
  for (StringRef each : llvm::split(value, ',')) {
    int64_t &size = sizes.emplace_back();
    if (each.getAsInteger(10, size) || size <= 0)
      return ("expected a positive size, such as " + name + "=8, or a list, such as " + name +
              "=8,16")
          .str();
  }
  auto [known, isNew] = options.plan.dims.try_emplace(name, sizes.front());
  if (!isNew)
    return ("'" + name + "' is given twice, first as " + Twine(known->second)).str();
  if (sizes.size() == 1)
    return "";
  constexpr size_t maxShapes = 64;
  if (sizes.size() > maxShapes)
    return ("has " + Twine(sizes.size()) + " sizes; expected at most " + Twine(maxShapes)).str();
  auto &shapes = options.plan.shapes;
  if (shapes.empty())
    shapes.resize(sizes.size() - 1);
  if (shapes.size() + 1 != sizes.size())
    return ("has " + Twine(sizes.size()) + " sizes, but another dimension has " +
            Twine(shapes.size() + 1) + "; entry i of each list is a size of shape i")
        .str();
  for (auto [shape, size] : llvm::zip_equal(shapes, llvm::drop_begin(sizes)))
    shape[name] = size;
  return "";
}

std::string mtc::tool::takeLora(Options &options, StringRef text) {
  if (llvm::Error error = LowRankSpec::parse(text).takeError())
    return llvm::toString(std::move(error));
  options.lora.push_back(text.str());
  return "";
}

std::string mtc::tool::takeBatchNorm(Options &options, StringRef text) {
  options.batchNorm = symbolizeEnum<BatchNormMode>(text);
  return "";
}

std::string mtc::tool::takeDropout(Options &options, StringRef text) {
  double rate = 0;
  std::string problem = parseValue(text, rate);
  if (problem.empty() && !(rate >= 0 && rate < 1))
    problem = "expected a rate of at least 0 and less than 1";
  options.dropout = rate;
  return problem;
}

std::string mtc::tool::takeThreads(Options &options, StringRef text) {
  if (text.getAsInteger(10, options.threads) || options.threads < 1 || options.threads > 1024)
    return "expected 1 to 1024";
  return "";
}

std::string mtc::tool::takeBatchTokens(Options &options, StringRef text) {
  int64_t tokens = 0;
  std::string problem = parseValue(text, tokens);
  if (problem.empty() && tokens < 1)
    problem = "expected 1 or more tokens";
  if (problem.empty())
    options.batchTokens = tokens;
  return problem;
}

std::string mtc::tool::takeUnroll(Options &options, StringRef text) {
  int64_t iterations = 0;
  std::string problem = parseValue(text, iterations);
  if (problem.empty() && iterations < 0)
    problem = "expected 0 or more iterations";
  if (problem.empty())
    options.unroll = iterations;
  return problem;
}

/// Returns the bytes of a size, or nothing if the text is not a size.
static std::optional<int64_t> parseSize(StringRef text) {
  size_t digits = text.find_if_not([](char c) { return llvm::isDigit(c) || c == '.'; });
  StringRef unit = text.substr(digits == StringRef::npos ? text.size() : digits).trim();
  double factor = llvm::StringSwitch<double>(unit.lower())
                      .Cases({"", "b"}, 1)
                      .Case("kib", 1024.0)
                      .Case("mib", 1024.0 * 1024)
                      .Case("gib", 1024.0 * 1024 * 1024)
                      .Case("tib", 1024.0 * 1024 * 1024 * 1024)
                      .Case("kb", 1e3)
                      .Case("mb", 1e6)
                      .Case("gb", 1e9)
                      .Case("tb", 1e12)
                      .Default(0);
  double number = 0;
  if (factor == 0 || text.take_front(digits).getAsDouble(number) || number * factor < 1 ||
      number * factor > 9e18)
    return std::nullopt;
  return static_cast<int64_t>(number * factor);
}

std::string mtc::tool::takeMemory(Options &options, StringRef text) {
  options.takesAvailableMemory = text == "auto";
  if (options.takesAvailableMemory)
    return "";
  options.plan.fit.memory = parseSize(text);
  return options.plan.fit.memory
             ? ""
             : "expected a size such as 12GiB, 800MiB or a number of bytes, or auto";
}

std::string mtc::tool::takeOffloadWindow(Options &options, StringRef text) {
  std::optional<int64_t> size = parseSize(text);
  if (!size || *size < 4096 || *size % 4096 != 0)
    return "expected a size such as 8MiB, a multiple of 4 KiB";
  options.plan.fit.offload.window = size;
  return "";
}

std::string mtc::tool::takeSearchSeconds(Options &options, StringRef text) {
  std::optional<double> seconds = parseNumber(text);
  if (!seconds || *seconds <= 0 || *seconds > abi::maxSeconds)
    return "expected a number of seconds greater than 0 and at most 1e9";
  options.plan.fit.searchSeconds = seconds;
  return "";
}

std::string mtc::tool::takeAllow(Options &options, StringRef name) {
  options.allow.push_back(name.str());
  return "";
}

/// Records the stage of each skipped pass, at which its flag takes effect.
std::string mtc::tool::takeSkippedPass(Options &options, StringRef name) {
  options.plan.passes.skipped.push_back(name.str());
  for (const OptionalPass &pass : getOptionalPasses())
    if (pass.name == name)
      options.given.push_back({("--skip-pass " + name).str(), pass.stage});
  return "";
}

std::string mtc::tool::takeParameters(Options &options, StringRef text) {
  options.parametersAreInputs = text == "inputs";
  return "";
}
