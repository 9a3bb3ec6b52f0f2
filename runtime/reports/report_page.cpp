// The page has all numbers as tables; runtime/reports/run.html draws the charts.
#include "runtime/reports/report_page.h"

#include "runtime/abi/file_marks.h"
#include "runtime/support/element_type.h"
#include "support/pages/html.h"
#include "support/terminal/progress_bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace mtc::runtime {
namespace {

using terminal::bytesText;
using terminal::countText;
using terminal::durationText;

constexpr std::string_view page =
#include "runtime/reports/run_page.inc"
    ;

std::string format(const char *text, double value) {
  std::array<char, 64> buffer;
  std::snprintf(buffer.data(), buffer.size(), text, value);
  return buffer.data();
}

std::string whole(int64_t value) { return html::wholeText(value); }

/// Returns a number with five digits; an en dash for one that is not known.
std::string number(double value) {
  constexpr double minWhole = 1e4, longest = 1e15;
  if (!std::isfinite(value))
    return "–";
  if (std::fabs(value) >= minWhole && std::fabs(value) < longest)
    return (value < 0 ? "-" : "") + whole(std::llround(std::fabs(value)));
  return format("%.5g", value);
}

/// Returns a number with four digits, which fits a tile.
std::string shortNumber(double value) {
  return std::fabs(value) < 1e4 ? format("%.4g", value) : number(value);
}

std::string counted(int64_t count, const char *noun) {
  return text(whole(count), " ", noun, count == 1 ? "" : "s");
}

/// Returns "2026-11-26 14:05 UTC", in the time zone of the machine.
std::string timeText(double seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  std::array<char, 64> buffer{};
  if (localtime_r(&time, &parts))
    std::strftime(buffer.data(), buffer.size(), "%Y-%m-%d %H:%M %Z", &parts);
  return buffer.data();
}

std::string millisecondsText(double seconds) {
  return seconds >= 1 ? format("%.2f s", seconds) : format("%.3g ms", seconds * 1e3);
}

std::string stepsText(const StepRange &range) {
  return range.first == range.last ? "step " + whole(range.first)
                                   : "steps " + whole(range.first) + " – " + whole(range.last);
}

class Page {
public:
  Page(const MtcProgram &program, const RunRecord &record)
      : program(program), record(record), facts(record.facts), ranges(record.steps.inRanges(50)) {
    for (const StepRange &range : ranges)
      all.add(range);
    if (!ranges.empty())
      all.first = ranges.front().first;
  }

  std::string lead() const;
  std::string message() const;
  std::string percent() const;
  std::string tiles() const;
  std::string metrics() const;
  std::string validations() const;
  std::string memory() const;
  std::string steps() const;
  std::string descriptions() const;
  std::string footer() const;

private:
  using Tile = html::Tile;

  Tile lossTile() const;
  Tile stepTile() const;
  Tile speedTile() const;
  Tile timeTile() const;
  std::string precision() const;
  double samplesPerSecond(double seconds) const {
    return seconds > 0 ? static_cast<double>(facts.samplesPerStep) / seconds : 0;
  }
  double meanSeconds() const {
    const ValueRange &seconds = all.fields[StepRange::Seconds];
    return seconds.isEmpty() ? 0 : seconds.mean();
  }

  const MtcProgram &program;
  const RunRecord &record;
  const RunFacts &facts;
  std::vector<StepRange> ranges;
  StepRange all;
};

std::string Page::lead() const {
  const Execution &last = record.executions.back();
  return html::escape(text("Program ", facts.program, ": ", facts.loss, " with ", facts.optimizer,
                           " on ", facts.target, ". Started ",
                           timeText(record.executions.front().start), ", ",
                           record.isRunning ? "last update " : "ended ", timeText(last.end), "."));
}

std::string Page::message() const {
  const std::string &message = record.ending.message;
  return message.empty() ? ""
                         : text("<p class=\"message ", stateName(record), "\">") +
                               html::escape(message) + "</p>\n";
}

std::string Page::percent() const {
  if (facts.totalSteps <= 0)
    return "0";
  return format("%.1f", 100 * std::min(1.0, static_cast<double>(record.lastStep.step) /
                                                static_cast<double>(facts.totalSteps)));
}

html::Tile Page::lossTile() const {
  Tile tile{"Training loss", "–", "", ""};
  if (!all.fields[StepRange::Loss].isEmpty() || all.notFinite)
    tile.value = shortNumber(record.lastStep.loss);
  const StepRange *lowest = nullptr;
  for (const StepRange &range : record.steps.ranges()) {
    const ValueRange &loss = range.fields[StepRange::Loss];
    if (!loss.isEmpty() && (!lowest || loss.minimum < lowest->fields[StepRange::Loss].minimum))
      lowest = &range;
  }
  if (lowest)
    tile.note = text("lowest ", number(lowest->fields[StepRange::Loss].minimum), " in ",
                     stepsText(*lowest));
  if (all.notFinite)
    tile.note +=
        text(tile.note.empty() ? "" : "; ", "not finite in ", counted(all.notFinite, "step"));
  return tile;
}

html::Tile Page::stepTile() const {
  Tile tile{"Step", whole(record.lastStep.step), "", "of " + whole(facts.totalSteps)};
  const int64_t epochs = facts.epochOf(facts.totalSteps);
  if (epochs)
    tile.note += text("; epoch ", whole(facts.epochOf(std::max<int64_t>(record.lastStep.step, 1))),
                      " of ", whole(epochs));
  if (all.skipped)
    tile.note += text("; ", whole(all.skipped), " skipped");
  return tile;
}

html::Tile Page::speedTile() const {
  const double seconds = meanSeconds(), samples = samplesPerSecond(seconds);
  Tile tile{"Throughput", "–", "", ""};
  if (!(seconds > 0))
    return tile;
  if (facts.tokensPerSample) {
    tile.value = countText(samples * static_cast<double>(*facts.tokensPerSample));
    tile.unit = "tokens/s";
    tile.note = countText(samples) + " samples/s";
  } else {
    tile.value = countText(samples);
    tile.unit = "samples/s";
    tile.note = counted(facts.samplesPerStep, "sample") + " per step";
  }
  return tile;
}

html::Tile Page::timeTile() const {
  Tile tile{"Time", durationText(record.seconds()), "", ""};
  const Execution &now = record.executions.back();
  const int64_t done = now.lastStep - now.firstStep;
  if (record.isRunning && done > 0)
    tile.note = "about " +
                durationText((now.end - now.start) / static_cast<double>(done) *
                             static_cast<double>(facts.totalSteps - now.lastStep)) +
                " left";
  else if (record.executions.size() > 1)
    tile.note = counted(static_cast<int64_t>(record.executions.size()), "execution");
  else if (meanSeconds() > 0)
    tile.note = millisecondsText(meanSeconds()) + " per step";
  return tile;
}

std::string Page::tiles() const {
  std::vector<Tile> tiles = {lossTile()};
  if (!record.validations.empty()) {
    const ValidationMetrics *best = record.bestValidation();
    const ValidationMetrics &last = record.validations.back(), &shown = best ? *best : last;
    Tile tile{best ? "Best validation loss" : "Validation loss", shortNumber(shown.loss), "", ""};
    for (const auto &[name, value] : shown.metrics)
      tile.note += text(name, " ", number(value), ", ");
    tile.note += "step " + whole(shown.step);
    if (&shown != &last)
      tile.note += "; last " + number(last.loss);
    tiles.push_back(tile);
  }
  tiles.push_back(stepTile());
  tiles.push_back(speedTile());
  tiles.push_back(timeTile());
  tiles.push_back({"Planned memory", bytesText(static_cast<double>(facts.plannedBytes)), "",
                   text(whole(facts.plannedBytes), " bytes in the arena")});
  return html::tiles(tiles);
}

/// A row of the table of metrics: a field, or a value that is computed from it.
struct MetricRow {
  const char *name;
  StepRange::Field field;
  std::function<double(double)> convert;
  bool isDecreasing = false; ///< the highest value has the lowest result
};

std::string Page::metrics() const {
  auto same = [](double value) { return value; };
  std::vector<MetricRow> rows = {
      {"Loss", StepRange::Loss, same},
      {"Learning rate", StepRange::LearningRate, same},
      {"Gradient norm", StepRange::GradientNorm, same},
      {"Loss scale", StepRange::LossScale, same},
      {"Step time (ms)", StepRange::Seconds, [](double seconds) { return seconds * 1e3; }},
      {"Samples per second", StepRange::Seconds,
       [this](double seconds) { return samplesPerSecond(seconds); }, true}};
  if (facts.tokensPerSample)
    rows.push_back({"Tokens per second", StepRange::Seconds,
                    [this](double seconds) {
                      return samplesPerSecond(seconds) *
                             static_cast<double>(*facts.tokensPerSample);
                    },
                    true});
  const std::array<double, StepRange::FieldCount> last = {
      record.lastStep.loss, record.lastStep.learningRate,
      record.lastStep.gradientNorm.value_or(std::nan("")),
      record.lastStep.lossScale.value_or(std::nan("")), record.lastStep.seconds};
  std::vector<html::Row> cells;
  for (const MetricRow &row : rows) {
    const ValueRange &values = all.fields[row.field];
    if (values.isEmpty())
      continue;
    auto cell = [&](double value) { return number(row.convert(value)); };
    cells.push_back({{row.name, cell(last[row.field]), cell(values.mean()),
                      cell(row.isDecreasing ? values.maximum : values.minimum),
                      cell(row.isDecreasing ? values.minimum : values.maximum)}});
  }
  return html::table("Last value, mean and extremes of each metric over all steps",
                     {{"Metric", false}, {"Last step"}, {"Mean"}, {"Lowest"}, {"Highest"}}, cells);
}

std::string Page::validations() const {
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
    std::vector<std::string> row = {whole(each.step), number(each.loss)};
    for (const auto &[name, ignored] : record.validations.back().metrics) {
      auto found =
          std::find_if(each.metrics.begin(), each.metrics.end(),
                       [&name = name](const auto &metric) { return metric.first == name; });
      row.push_back(found == each.metrics.end() ? "–" : number(found->second));
    }
    row.insert(row.end(),
               {whole(each.samples), millisecondsText(each.seconds), &each == best ? "best" : ""});
    cells.push_back({std::move(row)});
  }
  return "<section>\n<h2>Validations</h2>\n<div class=\"panel long\">\n" +
         html::table("Loss and metrics of validations", columns, cells) + "</div>\n</section>\n";
}

std::string Page::memory() const {
  const nlohmann::ordered_json plan =
      nlohmann::ordered_json::parse(program.plan_json, nullptr, false);
  std::vector<html::Share> shares;
  std::vector<html::Row> rows;
  const auto arena = static_cast<double>(std::max<int64_t>(facts.plannedBytes, 1));
  // The colors of the plan's page, which has the same categories in this order.
  const std::array<std::pair<const char *, const char *>, 6> categories = {
      {{"parameters", "Parameters"},
       {"gradients", "Gradients"},
       {"optimizer", "Optimizer state"},
       {"activations", "Activations"},
       {"workspace", "Workspace"},
       {"data", "Data"}}};
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
    rows.push_back({{name, bytesText(bytes), whole(static_cast<int64_t>(bytes)),
                     format("%.1f %%", 100 * bytes / arena)},
                    color});
  }
  rows.push_back({{"Arena, planned", bytesText(arena), whole(facts.plannedBytes), "100.0 %"}});
  const std::array<std::pair<const char *, int64_t>, 3> others = {
      {{"Pinned host memory", program.pinned_host_arena_bytes},
       {"Host memory", program.host_arena_bytes},
       {"Disk", program.disk_arena_bytes}}};
  for (const auto &[name, bytes] : others)
    if (bytes)
      rows.push_back({{std::string(name) + ", planned", bytesText(static_cast<double>(bytes)),
                       whole(bytes), ""}});
  rows.push_back(
      {{"Process, measured peak", bytesText(static_cast<double>(record.processPeakBytes)),
        whole(record.processPeakBytes), ""}});
  return (shares.empty() ? "" : html::stackedBar("Shares of the planned memory", shares)) +
         html::table("Planned memory by category, and the measured peak of the process",
                     {{"Memory", false}, {"Size"}, {"Bytes"}, {"Share"}}, rows);
}

std::string Page::steps() const {
  std::vector<html::Column> columns = {{"Steps", false}, {"Loss"}, {"Learning rate"}};
  const bool hasNorm = !all.fields[StepRange::GradientNorm].isEmpty();
  const bool hasScale = !all.fields[StepRange::LossScale].isEmpty();
  if (hasNorm)
    columns.push_back({"Gradient norm"});
  if (hasScale)
    columns.push_back({"Loss scale"});
  columns.insert(columns.end(), {{"Step time (ms)"}, {"Samples per second"}});
  std::vector<html::Row> rows;
  for (const StepRange &range : ranges) {
    auto mean = [&](StepRange::Field field) {
      const ValueRange &values = range.fields[field];
      return values.isEmpty() ? std::nan("") : values.mean();
    };
    std::vector<std::string> row = {
        range.first == range.last ? whole(range.first)
                                  : whole(range.first) + " – " + whole(range.last),
        number(mean(StepRange::Loss)), number(mean(StepRange::LearningRate))};
    if (hasNorm)
      row.push_back(number(mean(StepRange::GradientNorm)));
    if (hasScale)
      row.push_back(number(mean(StepRange::LossScale)));
    const double seconds = mean(StepRange::Seconds);
    row.push_back(number(seconds * 1e3));
    row.push_back(number(samplesPerSecond(seconds)));
    rows.push_back({std::move(row)});
  }
  return html::table("Means of the metrics over ranges of steps", columns, rows);
}

/// Returns the element types of a kind of variables, as the user knows them: a split value is f32.
std::string typesOf(const MtcProgram &program, MtcRole role) {
  std::set<std::string> types;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    if (variable.role != static_cast<uint32_t>(role))
      continue;
    const bool isSplit =
        std::any_of(program.variables, program.variables + program.variable_count,
                    [&](const MtcVariable &other) {
                      return other.role == MTC_LOW_HALF && other.of == static_cast<int32_t>(i);
                    });
    types.insert(isSplit ? "f32" : typeName(variable.tensor.type));
  }
  std::string all;
  for (const std::string &type : types)
    all += (all.empty() ? "" : ", ") + type;
  return all;
}

std::string Page::precision() const {
  std::string result = typesOf(program, MTC_PARAMETER) + " parameters";
  if (const std::string copies = typesOf(program, MTC_COPIED); !copies.empty())
    result += ", " + copies + " copies";
  if (const std::string frozen = typesOf(program, MTC_FROZEN); !frozen.empty())
    result += ", " + frozen + " frozen";
  return result;
}

std::string Page::descriptions() const {
  int64_t elements = 0;
  for (uint32_t i = 0; i < program.variable_count; ++i) {
    const MtcVariable &variable = program.variables[i];
    const MtcTensor *stored = variable.whole ? variable.whole : &variable.tensor;
    if (variable.role == MTC_PARAMETER)
      elements +=
          elementCount(shapeOf(variable.source ? *variable.source : *stored), 1).value_or(0);
  }
  const int64_t microSteps = program.accumulation.micro_steps;
  std::vector<std::pair<std::string, std::string>> list = {
      {"Program", facts.program},
      {"Model", facts.model},
      {"Trained parameters", whole(elements)},
      {"Loss", facts.loss},
      {"Optimizer", facts.optimizer},
      {"Learning rate", text(facts.schedule, ", peak ", number(facts.peakRate))},
      {"Batch", microSteps > 1 ? text(microSteps, " × ", program.batch, " = ",
                                      counted(facts.samplesPerStep, "sample"))
                               : counted(facts.samplesPerStep, "sample")}};
  if (facts.tokensPerSample)
    list.emplace_back("Sequence length", counted(*facts.tokensPerSample, "token"));
  if (facts.samplesPerEpoch)
    list.emplace_back("Epoch", counted(facts.samplesPerEpoch, "sample"));
  list.emplace_back("Precision", precision());
  list.emplace_back("Target", facts.target);
  list.emplace_back("Compiler", text("mtc ", program.compiler_version));
  for (size_t i = 0; i < record.executions.size(); ++i) {
    const Execution &each = record.executions[i];
    const bool runs = record.isRunning && i + 1 == record.executions.size();
    list.emplace_back(record.executions.size() > 1 ? text("Execution ", i + 1) : "Execution",
                      text("steps ", whole(each.firstStep + 1), " – ", whole(each.lastStep), ", ",
                           timeText(each.start), runs ? ", running" : " to ",
                           runs ? "" : timeText(each.end)));
  }
  return html::descriptionList(list);
}

std::string Page::footer() const {
  std::string result = "Written by a program that mtc compiled.";
  const std::vector<StepRange> &kept = record.steps.ranges();
  if (!kept.empty() && kept.front().last > kept.front().first)
    result +=
        text(" Each point of a chart is the mean of ", kept.front().last - kept.front().first + 1,
             " steps; bands show their minimum and maximum.");
  return html::escape(result);
}

} // namespace

std::string reportPage(const MtcProgram &program, const RunRecord &record, int64_t reloadSeconds) {
  const Page parts(program, record);
  const std::string model = html::escape(record.facts.model);
  return "<!--" MTC_TEXT_MARK "\n-->\n" +
         html::fill(page,
                    {{"REFRESH", record.isRunning ? text("<meta http-equiv=\"refresh\" content=\"",
                                                         reloadSeconds, "\">\n")
                                                  : ""},
                     {"TITLE", model + ": training run"},
                     {"MODEL", model},
                     {"STATE", stateName(record)},
                     {"LEAD", parts.lead()},
                     {"PERCENT", parts.percent()},
                     {"MESSAGE", parts.message()},
                     {"TILES", parts.tiles()},
                     {"METRICS", parts.metrics()},
                     {"VALIDATIONS", parts.validations()},
                     {"MEMORY", parts.memory()},
                     {"STEPS", parts.steps()},
                     {"FACTS", parts.descriptions()},
                     {"FOOTER", parts.footer()},
                     {"DATA", html::escapeJson(record.toJson().dump(
                                  -1, ' ', false, nlohmann::json::error_handler_t::replace))}});
}

} // namespace mtc::runtime
