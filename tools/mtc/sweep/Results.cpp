//===- Results.cpp - Results of the runs of a sweep -------------------------------------------===//

#include "tools/mtc/sweep/Results.h"

#include "support/compiler/Errors.h"
#include "support/compiler/InputFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <set>

using namespace mtc;
using namespace mtc::tool;
using llvm::StringRef;

llvm::Error mtc::tool::readMetrics(StringRef path, SweepRun &run) {
  llvm::Expected<InputFile> file = readInputFile(path, anyBytes, FileForm::Text);
  if (!file)
    return makeUserError(path + ": " + llvm::toString(file.takeError()));
  llvm::SmallVector<StringRef> lines;
  file->bytes().split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(line);
    const llvm::json::Object *object = parsed ? parsed->getAsObject() : nullptr;
    llvm::consumeError(parsed.takeError());
    const std::optional<int64_t> step = object ? object->getInteger("step") : std::nullopt;
    if (!step)
      continue; // A run that was killed may have left an incomplete last line.
    for (const auto &[key, value] : *object) {
      StringRef name = key;
      const std::optional<double> number = value.getAsNumber();
      if (number &&
          (name == "loss" || (name.starts_with(validationPrefix) && name != "validation_samples" &&
                              name != "validation_seconds")))
        run.metrics[name.str()].push_back({*step, *number});
    }
    run.steps = std::max(run.steps, *step);
    run.seconds += object->getNumber("step_seconds").value_or(0);
  }
  return llvm::Error::success();
}

std::optional<double> mtc::tool::valueOf(const SweepRun &run, const std::string &metric,
                                         bool isHigherBetter) {
  const auto found = run.metrics.find(metric);
  if (found == run.metrics.end() || found->second.empty())
    return std::nullopt;
  const std::vector<SweepRun::Point> &points = found->second;
  if (metric == "loss") {
    const size_t count = std::max<size_t>(1, points.size() / 10);
    double sum = 0;
    for (const SweepRun::Point &point : llvm::ArrayRef(points).take_back(count))
      sum += point.value;
    return sum / static_cast<double>(count);
  }
  std::optional<double> best;
  for (const SweepRun::Point &point : points)
    if (std::isfinite(point.value) &&
        (!best || (isHigherBetter ? point.value > *best : point.value < *best)))
      best = point.value;
  return best;
}

llvm::Expected<std::string> mtc::tool::rank(std::vector<SweepRun> &runs, StringRef metric,
                                            const SweptProgram &program) {
  std::set<std::string> names;
  for (const SweepRun &run : runs)
    for (const auto &[name, points] : run.metrics)
      names.insert(name);
  std::string chosen = metric.str();
  if (metric.empty())
    chosen = names.contains("validation_loss") ? "validation_loss" : "loss";
  else if (!names.contains(chosen))
    chosen = (validationPrefix + metric).str();
  if (!metric.empty() && !names.empty() && !names.contains(chosen))
    return makeUserError("--metric " + metric + ": no run has this metric; the metrics are " +
                         llvm::join(names, ", "));
  const bool isHigherBetter = program.ranksHigher(chosen);
  for (SweepRun &run : runs)
    run.value = valueOf(run, chosen, isHigherBetter);
  auto key = [&](const SweepRun &run) {
    const bool isKnown = run.problem.empty() && run.value && std::isfinite(*run.value);
    const double value = isKnown ? *run.value : 0;
    return std::tuple(!isKnown, isHigherBetter ? -value : value, run.number);
  };
  llvm::sort(runs, [&](const SweepRun &a, const SweepRun &b) { return key(a) < key(b); });
  return chosen;
}

std::vector<std::string> mtc::tool::namesOfSettings(llvm::ArrayRef<SweepRun> runs) {
  std::vector<std::string> names;
  for (const SweepRun &run : runs)
    for (const auto &[name, value] : run.setting.flags)
      if (!llvm::is_contained(names, name))
        names.push_back(name);
  return names;
}

static std::string numberText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", value);
  return text;
}

/// Returns the table's rows; the first one has the titles.
static std::vector<std::vector<std::string>> rowsOf(llvm::ArrayRef<SweepRun> runs,
                                                    StringRef metric) {
  const std::vector<std::string> names = namesOfSettings(runs);
  std::vector<std::vector<std::string>> rows = {names};
  llvm::append_range(rows.front(),
                     std::vector<std::string>{metric.str(), "loss", "steps", "seconds"});
  if (metric == "loss")
    rows.front().erase(rows.front().end() - 4);
  for (const SweepRun &run : runs) {
    std::vector<std::string> &row = rows.emplace_back();
    for (const std::string &name : names)
      row.push_back(run.setting.valueOf(name).str());
    const std::optional<double> loss = valueOf(run, "loss");
    if (metric != "loss")
      row.push_back(!run.problem.empty() ? "failed" : run.value ? numberText(*run.value) : "");
    row.push_back(!run.problem.empty() && metric == "loss" ? "failed"
                  : loss                                   ? numberText(*loss)
                                                           : "");
    row.push_back(std::to_string(run.steps));
    row.push_back(numberText(std::round(run.seconds * 1e3) / 1e3));
  }
  return rows;
}

void mtc::tool::printTable(llvm::ArrayRef<SweepRun> runs, StringRef metric,
                           llvm::raw_ostream &stream) {
  const std::vector<std::vector<std::string>> rows = rowsOf(runs, metric);
  std::vector<size_t> widths(rows.front().size());
  for (const std::vector<std::string> &row : rows)
    for (auto [width, cell] : llvm::zip_equal(widths, row))
      width = std::max(width, cell.size());
  for (const std::vector<std::string> &row : rows) {
    std::string line;
    for (auto [width, cell] : llvm::zip_equal(widths, row))
      line += cell + std::string(width + 2 - cell.size(), ' ');
    stream << StringRef(line).rtrim() << '\n';
  }
}

void mtc::tool::printCsv(llvm::ArrayRef<SweepRun> runs, StringRef metric,
                         llvm::raw_ostream &stream) {
  for (const std::vector<std::string> &row : rowsOf(runs, metric)) {
    llvm::ListSeparator separator(",");
    for (const std::string &cell : row) {
      stream << separator;
      if (StringRef(cell).find_first_of(",\"\n") == StringRef::npos) {
        stream << cell;
        continue;
      }
      stream << '"';
      for (char c : cell)
        stream << (c == '"' ? "\"\"" : std::string(1, c));
      stream << '"';
    }
    stream << '\n';
  }
}

llvm::json::Value mtc::tool::toJson(llvm::ArrayRef<SweepRun> runs, StringRef metric) {
  llvm::json::Array list;
  for (const SweepRun &run : runs) {
    llvm::json::Object setting;
    for (const auto &[name, value] : run.setting.flags)
      setting[name] = value;
    llvm::json::Object object{{"setting", std::move(setting)},
                              {"folder", run.folder},
                              {"steps", run.steps},
                              {"seconds", run.seconds}};
    if (run.value)
      object["value"] = *run.value;
    if (const std::optional<double> loss = valueOf(run, "loss"))
      object["loss"] = *loss;
    if (!run.problem.empty())
      object["problem"] = run.problem;
    list.push_back(std::move(object));
  }
  return llvm::json::Object{{"metric", metric}, {"runs", std::move(list)}};
}
