// Parsing and computation of normalizations.
#include "runtime/data/normalization.h"

#include "runtime/abi/number.h"
#include "runtime/support/element_type.h"
#include "runtime/support/failure.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace mtc::runtime {
namespace {

float parseFloat(std::string_view text) {
  double number = 0;
  if (const std::string problem = abi::parseNumber(text, number); !problem.empty())
    userError(problem);
  if (std::abs(number) > abi::maxF32)
    userError("expected numbers of at most 3.4e+38");
  return static_cast<float>(number);
}

/// Calls add(entry) for each entry of a list.
template <typename Add> void splitList(std::string_view text, const Add &add) {
  while (true) {
    const size_t comma = text.find(',');
    add(text.substr(0, comma));
    if (comma == std::string_view::npos)
      return;
    text.remove_prefix(comma + 1);
  }
}

std::string numberText(float number) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

template <typename Entry, typename Spell>
std::string listText(const std::vector<Entry> &list, const Spell &spell) {
  std::string result;
  for (const Entry &entry : list)
    result += (result.empty() ? "" : ",") + spell(entry);
  return result;
}

} // namespace

std::vector<ScaleFactor> parseScale(std::string_view text) {
  std::vector<ScaleFactor> scale;
  splitList(text, [&](std::string_view entry) {
    const size_t slash = entry.find('/');
    ScaleFactor factor = {parseFloat(entry.substr(0, slash)), 1};
    if (slash != std::string_view::npos)
      factor.denominator = parseFloat(entry.substr(slash + 1));
    if (factor.denominator == 0)
      userError("divides by 0; expected factors such as 1/255 or 0.5");
    scale.push_back(factor);
  });
  return scale;
}

std::vector<float> parseMean(std::string_view text) {
  std::vector<float> mean;
  splitList(text, [&](std::string_view entry) { mean.push_back(parseFloat(entry)); });
  return mean;
}

std::vector<float> parseStd(std::string_view text) {
  std::vector<float> deviations = parseMean(text);
  for (float each : deviations)
    if (!(each > 0))
      userError("expected standard deviations above 0");
  return deviations;
}

std::string scaleText(const std::vector<ScaleFactor> &scale) {
  return listText(scale, [](const ScaleFactor &factor) {
    return numberText(factor.numerator) +
           (factor.denominator == 1 ? "" : "/" + numberText(factor.denominator));
  });
}

std::string numbersText(const std::vector<float> &numbers) { return listText(numbers, numberText); }

std::string flagsOf(const Normalizations &normalizations) {
  std::string flags;
  auto add = [&](const char *flag, const std::string &name, const std::string &values) {
    if (!values.empty())
      flags += text(flags.empty() ? "" : " ", flag, " ", name, "=", values);
  };
  for (const auto &[name, normalization] : normalizations) {
    add("--scale", name, scaleText(normalization.scale));
    add("--mean", name, numbersText(normalization.mean));
    add("--std", name, numbersText(normalization.std));
  }
  return flags;
}

ChannelNormalizer::ChannelNormalizer(const Normalization &normalization,
                                     const std::vector<int64_t> &sampleDims,
                                     const std::string &name) {
  const auto &[scale, mean, deviations] = normalization;
  const size_t count = std::max({size_t{1}, scale.size(), mean.size(), deviations.size()});
  const auto extent = static_cast<int64_t>(count);
  const int64_t elements = *elementCount(sampleDims, 1);
  auto check = [&](const char *flag, size_t size) {
    const bool fits = size <= 1 || (size == count && !sampleDims.empty() &&
                                    (sampleDims.front() == extent || sampleDims.back() == extent));
    if (!fits)
      userError(flag, " ", name, ": has ", size, " values, and a sample of '", name, "' has shape ",
                shapeText(sampleDims), "; expected one value",
                sampleDims.empty() ? ""
                                   : text(", or ", sampleDims.front(),
                                          ": one for each index of the sample's first axis"));
  };
  check("--scale", scale.size());
  check("--mean", mean.size());
  check("--std", deviations.size());
  if (count == 1)
    elementsOfChannel = elements;
  else if (sampleDims.front() == extent)
    elementsOfChannel = elements / extent;
  // Elements of which each is of another channel than the next are normalized in long periods,
  // whose loop is vectorized.
  constexpr size_t minPeriod = 64;
  const size_t repeats = elementsOfChannel == 1 ? (minPeriod + count - 1) / count : 1;
  for (size_t i = 0; i < repeats * count; ++i) {
    auto valueOf = [c = i % count](const auto &list, auto none) {
      return list.empty() ? none : list[list.size() == 1 ? 0 : c];
    };
    const ScaleFactor factor = valueOf(scale, ScaleFactor{});
    numerators.push_back(factor.numerator);
    denominators.push_back(factor.denominator);
    means.push_back(valueOf(mean, 0.0F));
    this->deviations.push_back(valueOf(deviations, 1.0F));
  }
}

void ChannelNormalizer::apply(float *values, int64_t count, int64_t first) const {
  if (count == 0 || elementsOfChannel == 0)
    return;
  const auto period = static_cast<int64_t>(means.size());
  const float *numerator = numerators.data(), *denominator = denominators.data(),
              *mean = means.data(), *deviation = deviations.data();
  if (elementsOfChannel == 1) {
    for (int64_t at = 0, channel = first % period; at < count; channel = 0) {
      const int64_t size = std::min(count - at, period - channel);
      for (int64_t i = 0; i < size; ++i)
        values[at + i] = (values[at + i] * numerator[channel + i] / denominator[channel + i] -
                          mean[channel + i]) /
                         deviation[channel + i];
      at += size;
    }
    return;
  }
  int64_t channel = first / elementsOfChannel % period,
          left = elementsOfChannel - first % elementsOfChannel;
  for (int64_t at = 0; at < count; left = elementsOfChannel, channel = (channel + 1) % period) {
    const float n = numerator[channel], d = denominator[channel], m = mean[channel],
                s = deviation[channel];
    for (const int64_t end = std::min(count, at + left); at < end; ++at)
      values[at] = (values[at] * n / d - m) / s;
  }
}

} // namespace mtc::runtime
