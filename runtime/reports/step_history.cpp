// The ranges have equal lengths, which double when there are too many ranges.
#include "runtime/reports/step_history.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

namespace mtc::runtime {

using Json = nlohmann::json;

void ValueRange::add(double value) {
  if (std::isfinite(value))
    add({value, value, value, 1});
}

void ValueRange::add(const ValueRange &other) {
  if (other.isEmpty())
    return;
  minimum = isEmpty() ? other.minimum : std::min(minimum, other.minimum);
  maximum = isEmpty() ? other.maximum : std::max(maximum, other.maximum);
  sum += other.sum;
  count += other.count;
}

void StepRange::add(const StepRange &next) {
  last = next.last;
  skipped += next.skipped;
  notFinite += next.notFinite;
  for (size_t field = 0; field < FieldCount; ++field)
    fields[field].add(next.fields[field]);
}

void StepHistory::add(const StepMetrics &metrics) {
  StepRange step{.first = metrics.step,
                 .last = metrics.step,
                 .skipped = metrics.skipped,
                 .notFinite = !std::isfinite(metrics.loss)};
  step.fields[StepRange::Loss].add(metrics.loss);
  step.fields[StepRange::LearningRate].add(metrics.learningRate);
  if (metrics.gradientNorm)
    step.fields[StepRange::GradientNorm].add(*metrics.gradientNorm);
  if (metrics.lossScale)
    step.fields[StepRange::LossScale].add(*metrics.lossScale);
  step.fields[StepRange::Seconds].add(metrics.seconds);
  if (!all.empty() && all.back().last - all.back().first + 1 < length)
    return all.back().add(step);
  if (all.size() == capacity)
    halve();
  all.push_back(step);
}

void StepHistory::halve() {
  all = inRanges(capacity / 2);
  length *= 2;
}

std::vector<StepRange> StepHistory::inRanges(size_t count) const {
  const size_t joined = std::max<size_t>((all.size() + count - 1) / count, 1);
  std::vector<StepRange> result;
  for (size_t i = 0; i < all.size(); ++i)
    if (i % joined == 0)
      result.push_back(all[i]);
    else
      result.back().add(all[i]);
  return result;
}

nlohmann::ordered_json StepHistory::toJson() const {
  nlohmann::ordered_json json = {{"first", Json::array()},
                                 {"last", Json::array()},
                                 {"skipped", Json::array()},
                                 {"not_finite", Json::array()}};
  for (const StepRange &range : all) {
    json["first"].push_back(range.first);
    json["last"].push_back(range.last);
    json["skipped"].push_back(range.skipped);
    json["not_finite"].push_back(range.notFinite);
  }
  for (size_t field = 0; field < StepRange::FieldCount; ++field) {
    if (std::all_of(all.begin(), all.end(),
                    [&](const StepRange &range) { return range.fields[field].isEmpty(); }))
      continue;
    Json means = Json::array(), minima = Json::array(), maxima = Json::array();
    for (const StepRange &range : all) {
      const ValueRange &values = range.fields[field];
      means.push_back(values.isEmpty() ? Json() : Json(values.mean()));
      minima.push_back(values.isEmpty() ? Json() : Json(values.minimum));
      maxima.push_back(values.isEmpty() ? Json() : Json(values.maximum));
    }
    json[std::string(StepRange::names[field])] = {
        {"mean", means}, {"minimum", minima}, {"maximum", maxima}};
  }
  return json;
}

/// Returns a column of numbers, or of nulls, of the given length.
static std::optional<std::vector<Json>> column(const Json &json, const char *name, size_t length) {
  if (!json.is_object() || !json.contains(name) || !json[name].is_array() ||
      json[name].size() != length)
    return std::nullopt;
  std::vector<Json> values = json[name];
  const bool areNumbers = std::all_of(values.begin(), values.end(), [](const Json &value) {
    return value.is_number() || value.is_null();
  });
  return areNumbers ? std::optional(std::move(values)) : std::nullopt;
}

static int64_t wholeOf(const Json &json) {
  return json.is_number_integer() ? json.get<int64_t>() : 0;
}

bool StepHistory::read(const Json &json, int64_t lastStep) {
  all.clear();
  length = 1;
  if (!json.is_object() || !json.contains("first") || !json["first"].is_array() ||
      json["first"].size() > capacity)
    return false;
  const size_t count = json["first"].size();
  const auto first = column(json, "first", count), last = column(json, "last", count),
             skipped = column(json, "skipped", count),
             notFinite = column(json, "not_finite", count);
  if (!first || !last || !skipped || !notFinite)
    return false;
  std::vector<StepRange> found;
  int64_t longest = 1, before = 0;
  for (size_t i = 0; i < count; ++i) {
    StepRange range{.first = wholeOf((*first)[i]),
                    .last = wholeOf((*last)[i]),
                    .skipped = wholeOf((*skipped)[i]),
                    .notFinite = wholeOf((*notFinite)[i])};
    if (range.first <= before || range.last < range.first)
      return false;
    before = range.last;
    if (range.last > lastStep)
      break;
    longest = std::max(longest, range.last - range.first + 1);
    found.push_back(range);
  }
  for (size_t field = 0; field < StepRange::FieldCount; ++field) {
    const std::string name(StepRange::names[field]);
    if (!json.contains(name))
      continue;
    const auto means = column(json[name], "mean", count),
               minima = column(json[name], "minimum", count),
               maxima = column(json[name], "maximum", count);
    if (!means || !minima || !maxima)
      return false;
    for (size_t i = 0; i < found.size(); ++i) {
      if (!(*means)[i].is_number() || !(*minima)[i].is_number() || !(*maxima)[i].is_number())
        continue;
      const int64_t steps = found[i].last - found[i].first + 1;
      found[i].fields[field] = {(*means)[i].get<double>() * static_cast<double>(steps),
                                (*minima)[i].get<double>(), (*maxima)[i].get<double>(), steps};
    }
  }
  // A range is as long as a power of two.
  while (length < longest)
    length *= 2;
  all = std::move(found);
  return true;
}

} // namespace mtc::runtime
