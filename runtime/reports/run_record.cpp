// Records as JSON, in the report and from the report of an earlier execution.
#include "runtime/reports/run_record.h"

#include "runtime/reports/metric_fields.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mtc::runtime {

using OrderedJson = nlohmann::ordered_json;

/// Version of the data in the page.
static constexpr int64_t recordVersion = 1;

const char *stateName(const RunRecord &record) {
  if (record.isRunning)
    return "running";
  switch (record.ending.outcome) {
  case RunOutcome::Completed:
    return "completed";
  case RunOutcome::Stopped:
    return "stopped";
  case RunOutcome::Failed:
    return "failed";
  }
  return "failed";
}

void RunRecord::addValidation(const ValidationMetrics &metrics) {
  validations.push_back(metrics);
  for (ValidationMetrics &each : validations)
    if (&each != &validations.back() && &each != bestValidation())
      each.confusion = {};
  if (validations.size() <= validationCapacity)
    return;
  std::vector<ValidationMetrics> kept;
  const ValidationMetrics *best = bestValidation();
  for (size_t i = 0; i < validations.size(); ++i)
    if (i % 2 == 0 || &validations[i] == best || i + 1 == validations.size())
      kept.push_back(validations[i]);
  validations = std::move(kept);
}

const ValidationMetrics *RunRecord::bestValidation() const {
  for (auto each = validations.rbegin(); each != validations.rend(); ++each)
    if (each->isBest)
      return &*each;
  return nullptr;
}

double RunRecord::seconds() const {
  double sum = 0;
  for (const Execution &execution : executions)
    sum += execution.end - execution.start;
  return sum;
}

/// Returns null for a number that JSON cannot represent.
static OrderedJson numberOf(double value) {
  return std::isfinite(value) ? OrderedJson(value) : OrderedJson();
}

OrderedJson RunRecord::toJson() const {
  OrderedJson json = {{"version", recordVersion},
                      {"fingerprint", fingerprint},
                      {"model", facts.model},
                      {"program", facts.program},
                      {"loss", facts.loss},
                      {"optimizer", facts.optimizer},
                      {"target", facts.target},
                      {"state", stateName(*this)},
                      {"message", ending.message},
                      {"step", lastStep.step},
                      {"total_steps", facts.totalSteps},
                      {"samples_per_step", facts.samplesPerStep}};
  if (facts.tokensPerSample)
    json["tokens_per_sample"] = *facts.tokensPerSample;
  if (!facts.bestMetric.empty())
    json["best_metric"] = facts.bestMetric;
  if (!facts.classes.empty())
    json["classes"] = facts.classes;
  json["planned_bytes"] = facts.plannedBytes;
  json["process_peak_bytes"] = processPeakBytes;
  json["executions"] = OrderedJson::array();
  for (const Execution &each : executions)
    json["executions"].push_back({{"start", each.start},
                                  {"end", each.end},
                                  {"first_step", each.firstStep},
                                  {"last_step", each.lastStep}});
  json["steps"] = steps.toJson();
  json["validations"] = OrderedJson::array();
  for (const ValidationMetrics &each : validations) {
    OrderedJson metrics = OrderedJson::object();
    for (const auto &[name, value] : each.metrics)
      metrics[name] = numberOf(value);
    json["validations"].push_back({{"step", each.step},
                                   {"loss", numberOf(each.loss)},
                                   {"metrics", metrics},
                                   {"samples", each.samples},
                                   {"seconds", numberOf(each.seconds)},
                                   {"best", each.isBest}});
    if (each.confusion.classes())
      json["validations"].back()["confusion"] = each.confusion.counts();
  }
  return json;
}

bool RunRecord::continueFrom(const nlohmann::json &json) {
  const int64_t before = facts.firstStep;
  try {
    if (json.at("version") != recordVersion || json.at("fingerprint") != fingerprint)
      return false;
    StepHistory history;
    if (!history.read(json.at("steps"), before))
      return false;
    std::vector<Execution> earlier;
    for (const auto &each : json.at("executions"))
      if (const auto first = each.at("first_step").get<int64_t>(); first < before)
        earlier.push_back({each.at("start").get<double>(), each.at("end").get<double>(), first,
                           std::min(each.at("last_step").get<int64_t>(), before)});
    std::vector<ValidationMetrics> known;
    auto number = [](const nlohmann::json &value) {
      return value.is_number() ? value.get<double>() : std::nan("");
    };
    for (const auto &each : json.at("validations")) {
      ValidationMetrics metrics{.step = each.at("step").get<int64_t>(),
                                .loss = number(each.at("loss")),
                                .samples = each.at("samples").get<int64_t>(),
                                .seconds = number(each.at("seconds")),
                                .isBest = each.at("best").get<bool>()};
      for (const auto &metric : each.at("metrics").items())
        metrics.metrics.emplace_back(metric.key(), number(metric.value()));
      if (each.contains("confusion"))
        metrics.confusion = ConfusionMatrix(each["confusion"].get<std::vector<int64_t>>());
      if (metrics.step <= before)
        known.push_back(std::move(metrics));
    }
    steps = std::move(history);
    validations = std::move(known);
    executions = std::move(earlier);
    return true;
  } catch (const nlohmann::json::exception &) {
    return false;
  }
}

} // namespace mtc::runtime
