// The page has all numbers as tables; runtime/reports/run.html draws the charts.
#include "runtime/reports/report_page.h"

#include "runtime/abi/file_marks.h"
#include "runtime/reports/class_section.h"
#include "runtime/reports/report_tables.h"
#include "runtime/reports/report_text.h"
#include "runtime/support/element_type.h"
#include "support/pages/html.h"
#include "support/terminal/progress_bar.h"

#include <algorithm>
#include <nlohmann/json.hpp>
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

class Page {
public:
  Page(const MtcProgram &program, const RunRecord &record, const StepSummary &steps)
      : program(program), record(record), facts(record.facts), steps(steps), all(steps.all) {}

  std::string lead() const;
  std::string message() const;
  std::string percent() const;
  std::string tiles() const;
  std::string descriptions() const;
  std::string footer() const;

private:
  using Tile = html::Tile;

  Tile lossTile() const;
  Tile validationTile() const;
  Tile stepTile() const;
  Tile speedTile() const;
  Tile timeTile() const;
  std::string precision() const;

  const MtcProgram &program;
  const RunRecord &record;
  const RunFacts &facts;
  const StepSummary &steps;
  const StepRange &all;
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
  return formatNumber("%.1f", 100 * std::min(1.0, static_cast<double>(record.lastStep.step) /
                                                      static_cast<double>(facts.totalSteps)));
}

html::Tile Page::lossTile() const {
  Tile tile{"Training loss", "–", "", ""};
  if (!all.fields[StepRange::Loss].isEmpty() || all.notFinite)
    tile.value = shortNumberText(record.lastStep.loss);
  const StepRange *lowest = nullptr;
  for (const StepRange &range : record.steps.ranges()) {
    const ValueRange &loss = range.fields[StepRange::Loss];
    if (!loss.isEmpty() && (!lowest || loss.minimum < lowest->fields[StepRange::Loss].minimum))
      lowest = &range;
  }
  if (lowest)
    tile.note = text("lowest ", numberText(lowest->fields[StepRange::Loss].minimum), " in ",
                     stepsText(*lowest));
  if (all.notFinite)
    tile.note +=
        text(tile.note.empty() ? "" : "; ", "not finite in ", countedText(all.notFinite, "step"));
  return tile;
}

html::Tile Page::stepTile() const {
  Tile tile{"Step", html::wholeText(record.lastStep.step), "",
            "of " + html::wholeText(facts.totalSteps)};
  const int64_t epochs = facts.epochOf(facts.totalSteps);
  if (epochs)
    tile.note +=
        text("; epoch ", html::wholeText(facts.epochOf(std::max<int64_t>(record.lastStep.step, 1))),
             " of ", html::wholeText(epochs));
  if (all.skipped)
    tile.note += text("; ", html::wholeText(all.skipped), " skipped");
  return tile;
}

html::Tile Page::speedTile() const {
  const double seconds = steps.meanSeconds(), samples = steps.samplesPerSecond(seconds);
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
    tile.note = countedText(facts.samplesPerStep, "sample") + " per step";
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
    tile.note = countedText(static_cast<int64_t>(record.executions.size()), "execution");
  else if (steps.meanSeconds() > 0)
    tile.note = millisecondsText(steps.meanSeconds()) + " per step";
  return tile;
}

/// Shows the best validation by the metric that chooses it.
html::Tile Page::validationTile() const {
  const ValidationMetrics *best = record.bestValidation();
  const ValidationMetrics &last = record.validations.back(), &shown = best ? *best : last;
  const std::string metric = facts.bestMetric.empty() ? "loss" : facts.bestMetric;
  auto valueOf = [&metric](const ValidationMetrics &validation) {
    for (const auto &[name, value] : validation.metrics)
      if (name == metric)
        return value;
    return validation.loss;
  };
  Tile tile{(best ? "Best validation " : "Validation ") + metric, shortNumberText(valueOf(shown)),
            "", metric == "loss" ? "" : text("loss ", numberText(shown.loss), ", ")};
  for (const auto &[name, value] : shown.metrics)
    if (name != metric)
      tile.note += text(name, " ", numberText(value), ", ");
  tile.note += "step " + html::wholeText(shown.step);
  if (&shown != &last)
    tile.note += "; last " + numberText(valueOf(last));
  return tile;
}

std::string Page::tiles() const {
  std::vector<Tile> tiles = {lossTile()};
  if (!record.validations.empty())
    tiles.push_back(validationTile());
  tiles.push_back(stepTile());
  tiles.push_back(speedTile());
  tiles.push_back(timeTile());
  tiles.push_back({"Planned memory", bytesText(static_cast<double>(facts.plannedBytes)), "",
                   text(html::wholeText(facts.plannedBytes), " bytes in the arena")});
  return html::tiles(tiles);
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
      {"Trained parameters", html::wholeText(elements)},
      {"Loss", facts.loss},
      {"Optimizer", facts.optimizer},
      {"Learning rate", text(facts.schedule, ", peak ", numberText(facts.peakRate))},
      {"Batch", microSteps > 1 ? text(microSteps, " × ", program.batch, " = ",
                                      countedText(facts.samplesPerStep, "sample"))
                               : countedText(facts.samplesPerStep, "sample")}};
  if (facts.tokensPerSample)
    list.emplace_back("Sequence length", countedText(*facts.tokensPerSample, "token"));
  if (facts.samplesPerEpoch)
    list.emplace_back("Epoch", countedText(facts.samplesPerEpoch, "sample"));
  list.emplace_back("Precision", precision());
  list.emplace_back("Target", facts.target);
  list.emplace_back("Compiler", text("mtc ", program.compiler_version));
  for (size_t i = 0; i < record.executions.size(); ++i) {
    const Execution &each = record.executions[i];
    const bool runs = record.isRunning && i + 1 == record.executions.size();
    list.emplace_back(record.executions.size() > 1 ? text("Execution ", i + 1) : "Execution",
                      text("steps ", html::wholeText(each.firstStep + 1), " – ",
                           html::wholeText(each.lastStep), ", ", timeText(each.start),
                           runs ? ", running" : " to ", runs ? "" : timeText(each.end)));
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
  const StepSummary steps(record);
  const Page parts(program, record, steps);
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
                     {"METRICS", metricsTable(record, steps)},
                     {"VALIDATIONS", validationsSection(record)},
                     {"CLASSES", classesSection(record)},
                     {"MEMORY", memoryTable(program, record)},
                     {"STEPS", stepsTable(steps)},
                     {"FACTS", parts.descriptions()},
                     {"FOOTER", parts.footer()},
                     {"DATA", html::escapeJson(record.toJson().dump(
                                  -1, ' ', false, nlohmann::json::error_handler_t::replace))}});
}

} // namespace mtc::runtime
