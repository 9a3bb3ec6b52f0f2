#include "runtime/reports/report_tables.h"

#include "runtime/reports/report_text.h"
#include "runtime/support/failure.h"
#include "support/pages/html.h"
#include "support/terminal/progress_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

namespace mtc::runtime {

StepSummary::StepSummary(const RunRecord &record)
    : ranges(record.steps.inRanges(50)), samplesPerStep(record.facts.samplesPerStep) {
  for (const StepRange &range : ranges)
    all.add(range);
  if (!ranges.empty())
    all.first = ranges.front().first;
}

double StepSummary::samplesPerSecond(double seconds) const {
  return seconds > 0 ? static_cast<double>(samplesPerStep) / seconds : 0;
}

double StepSummary::meanSeconds() const {
  const ValueRange &seconds = all.fields[StepRange::Seconds];
  return seconds.isEmpty() ? 0 : seconds.mean();
}

namespace {

/// A row of the table of metrics: a field, or a value that is computed from it.
struct MetricRow {
  const char *name;
  StepRange::Field field;
  std::function<double(double)> convert;
  bool isDecreasing = false; ///< the highest value has the lowest result
};

} // namespace

std::string metricsTable(const RunRecord &record, const StepSummary &summary) {
  const RunFacts &facts = record.facts;
  auto same = [](double value) { return value; };
  std::vector<MetricRow> rows = {
      {"Loss", StepRange::Loss, same},
      {"Learning rate", StepRange::LearningRate, same},
      {"Gradient norm", StepRange::GradientNorm, same},
      {"Loss scale", StepRange::LossScale, same},
      {"Step time (ms)", StepRange::Seconds, [](double seconds) { return seconds * 1e3; }},
      {"Samples per second", StepRange::Seconds,
       [&](double seconds) { return summary.samplesPerSecond(seconds); }, true}};
  if (facts.tokensPerSample)
    rows.push_back({"Tokens per second", StepRange::Seconds,
                    [&](double seconds) {
                      return summary.samplesPerSecond(seconds) *
                             static_cast<double>(*facts.tokensPerSample);
                    },
                    true});
  const std::array<double, StepRange::FieldCount> last = {
      record.lastStep.loss, record.lastStep.learningRate,
      record.lastStep.gradientNorm.value_or(std::nan("")),
      record.lastStep.lossScale.value_or(std::nan("")), record.lastStep.seconds};
  std::vector<html::Row> cells;
  for (const MetricRow &row : rows) {
    const ValueRange &values = summary.all.fields[row.field];
    if (values.isEmpty())
      continue;
    auto cell = [&](double value) { return numberText(row.convert(value)); };
    cells.push_back({{row.name, cell(last[row.field]), cell(values.mean()),
                      cell(row.isDecreasing ? values.maximum : values.minimum),
                      cell(row.isDecreasing ? values.minimum : values.maximum)}});
  }
  return html::table("Last value, mean and extremes of each metric over all steps",
                     {{"Metric", false}, {"Last step"}, {"Mean"}, {"Lowest"}, {"Highest"}}, cells);
}

std::string stepsTable(const StepSummary &summary) {
  std::vector<html::Column> columns = {{"Steps", false}, {"Loss"}, {"Learning rate"}};
  const bool hasNorm = !summary.all.fields[StepRange::GradientNorm].isEmpty();
  const bool hasScale = !summary.all.fields[StepRange::LossScale].isEmpty();
  if (hasNorm)
    columns.push_back({"Gradient norm"});
  if (hasScale)
    columns.push_back({"Loss scale"});
  columns.insert(columns.end(), {{"Step time (ms)"}, {"Samples per second"}});
  std::vector<html::Row> rows;
  for (const StepRange &range : summary.ranges) {
    auto mean = [&](StepRange::Field field) {
      const ValueRange &values = range.fields[field];
      return values.isEmpty() ? std::nan("") : values.mean();
    };
    std::vector<std::string> row = {
        range.first == range.last
            ? html::wholeText(range.first)
            : html::wholeText(range.first) + " – " + html::wholeText(range.last),
        numberText(mean(StepRange::Loss)), numberText(mean(StepRange::LearningRate))};
    if (hasNorm)
      row.push_back(numberText(mean(StepRange::GradientNorm)));
    if (hasScale)
      row.push_back(numberText(mean(StepRange::LossScale)));
    const double seconds = mean(StepRange::Seconds);
    row.push_back(numberText(seconds * 1e3));
    row.push_back(numberText(summary.samplesPerSecond(seconds)));
    rows.push_back({std::move(row)});
  }
  return html::table("Means of the metrics over ranges of steps", columns, rows);
}

std::string validationsSection(const RunRecord &record) {
  constexpr size_t maximum = 100;
  const size_t count = record.validations.size();
  if (!count)
    return "";
  std::vector<html::Column> columns = {{"Step", false}, {"Loss"}};
  for (const auto &metric : record.validations.back().metrics)
    columns.push_back({metric.first});
  columns.insert(columns.end(), {{"Samples"}, {"Time"}, {"", false}});
  const size_t stride = (count + maximum - 1) / maximum;
  const ValidationMetrics *best = record.bestValidation();
  std::vector<html::Row> cells;
  for (size_t i = 0; i < count; ++i) {
    const ValidationMetrics &each = record.validations[i];
    if (i % stride != 0 && i + 1 != count && &each != best)
      continue;
    std::vector<std::string> row = {html::wholeText(each.step), numberText(each.loss)};
    for (const auto &[name, ignored] : record.validations.back().metrics) {
      auto found =
          std::find_if(each.metrics.begin(), each.metrics.end(),
                       [&name = name](const auto &metric) { return metric.first == name; });
      row.push_back(found == each.metrics.end() ? "–" : numberText(found->second));
    }
    row.insert(row.end(), {html::wholeText(each.samples), millisecondsText(each.seconds),
                           &each == best ? "best " + record.facts.bestMetric : ""});
    cells.push_back({std::move(row)});
  }
  return "<section>\n<h2>Validations</h2>\n<div class=\"panel long\">\n" +
         html::table("Loss and metrics of validations", columns, cells) + "</div>\n</section>\n";
}

std::string memoryTable(const MtcProgram &program, const RunRecord &record) {
  const nlohmann::ordered_json plan =
      nlohmann::ordered_json::parse(program.plan_json, nullptr, false);
  std::vector<html::Share> shares;
  std::vector<html::Row> rows;
  const auto arena = static_cast<double>(std::max<int64_t>(record.facts.plannedBytes, 1));
  // The colors of the plan's page, which has the same categories in this order.
  const std::array<std::pair<const char *, const char *>, 7> categories = {
      {{"parameters", "Parameters"},
       {"gradients", "Gradients"},
       {"optimizer", "Optimizer state"},
       {"activations", "Activations"},
       {"workspace", "Workspace"},
       {"data", "Data"},
       {"activation_gradients", "Gradients of activations"}}};
  for (size_t i = 0; i < categories.size(); ++i) {
    const auto &[key, name] = categories[i];
    if (!plan.is_object() || !plan.contains("categories") || !plan["categories"].contains(key) ||
        !plan["categories"][key].is_number())
      continue;
    const double bytes = plan["categories"][key].get<double>();
    if (bytes <= 0)
      continue;
    const std::string color = text("var(--c", i, ")");
    shares.push_back({bytes / arena, color});
    rows.push_back({{name, terminal::bytesText(bytes), html::wholeText(static_cast<int64_t>(bytes)),
                     formatNumber("%.1f %%", 100 * bytes / arena)},
                    color});
  }
  rows.push_back({{"Arena, planned", terminal::bytesText(arena),
                   html::wholeText(record.facts.plannedBytes), "100.0 %"}});
  const std::array<std::pair<const char *, int64_t>, 3> others = {
      {{"Pinned host memory", program.pinned_host_arena_bytes},
       {"Host memory", program.host_arena_bytes},
       {"Disk", program.disk_arena_bytes}}};
  for (const auto &[name, bytes] : others)
    if (bytes)
      rows.push_back(
          {{std::string(name) + ", planned", terminal::bytesText(static_cast<double>(bytes)),
            html::wholeText(bytes), ""}});
  rows.push_back(
      {{"Process, measured peak", terminal::bytesText(static_cast<double>(record.processPeakBytes)),
        html::wholeText(record.processPeakBytes), ""}});
  return (shares.empty() ? "" : html::stackedBar("Shares of the planned memory", shares)) +
         html::table("Planned memory by category, and the measured peak of the process",
                     {{"Memory", false}, {"Size"}, {"Bytes"}, {"Share"}}, rows);
}

} // namespace mtc::runtime
