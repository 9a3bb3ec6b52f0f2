//===- Page.cpp - The page of a sweep ---------------------------------------------------------===//

#include "support/compiler/WrittenByMtc.h"
#include "support/pages/html.h"
#include "tools/mtc/sweep/Results.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace mtc;
using namespace mtc::tool;
using llvm::StringRef;

/// The page, with placeholders such as @DATA@.
static constexpr llvm::StringLiteral page =
#include "SweepPage.inc"
    ;

/// Curves that can be told apart, and points that a curve needs.
static constexpr size_t maxCurves = 12, maxPoints = 300;

static std::string colorOf(size_t curve) {
  return llvm::formatv("hsl({0} 55% 50%)", curve * 360 / maxCurves);
}

/// Returns the points of a curve, averaged over ranges of steps.
static llvm::json::Array pointsOf(llvm::ArrayRef<SweepRun::Point> points) {
  llvm::json::Array list;
  const size_t range = (points.size() + maxPoints - 1) / maxPoints;
  for (size_t at = 0; at < points.size(); at += range) {
    const llvm::ArrayRef<SweepRun::Point> part =
        points.slice(at, std::min(range, points.size() - at));
    double sum = 0;
    for (const SweepRun::Point &point : part)
      sum += point.value;
    const double mean = sum / static_cast<double>(part.size());
    list.push_back(llvm::json::Array{part.back().step, std::isfinite(mean)
                                                           ? llvm::json::Value(mean)
                                                           : llvm::json::Value(nullptr)});
  }
  return list;
}

static llvm::json::Value dataOf(llvm::ArrayRef<SweepRun> runs, StringRef metric) {
  llvm::json::Array curves;
  for (auto [number, run] : llvm::enumerate(runs.take_front(maxCurves))) {
    llvm::json::Object metrics;
    for (const auto &[name, points] : run.metrics)
      if (name == "loss" || name == metric || name == "validation_loss")
        metrics[name] = pointsOf(points);
    curves.push_back(llvm::json::Object{{"name", llvm::json::fixUTF8(run.setting.describe())},
                                        {"color", colorOf(number)},
                                        {"metrics", std::move(metrics)}});
  }
  return llvm::json::Object{{"metric", metric}, {"curves", std::move(curves)}};
}

static std::string table(llvm::ArrayRef<SweepRun> runs, StringRef metric) {
  const std::vector<std::string> names = namesOfSettings(runs);
  std::vector<html::Column> columns = {{"Run", false}};
  for (const std::string &name : names)
    columns.push_back({name});
  columns.push_back({metric.str()});
  columns.push_back({"Steps"});
  columns.push_back({"Seconds"});
  std::vector<html::Row> rows;
  for (auto [number, run] : llvm::enumerate(runs)) {
    html::Row row = {{run.setting.folderName()}, number < maxCurves ? colorOf(number) : ""};
    for (const std::string &name : names)
      row.cells.push_back(run.setting.valueOf(name).str());
    row.cells.push_back(!run.problem.empty() ? "failed: " + run.problem
                        : run.value          ? llvm::formatv("{0:f6}", *run.value).str()
                                             : "");
    row.cells.push_back(html::wholeText(run.steps));
    row.cells.push_back(llvm::formatv("{0:f2}", run.seconds));
    rows.push_back(std::move(row));
  }
  return html::table("Runs, the best first", columns, rows);
}

void mtc::tool::writeSweepPage(llvm::ArrayRef<SweepRun> runs, const SweptProgram &program,
                               StringRef metric, llvm::raw_ostream &stream) {
  std::string json;
  llvm::raw_string_ostream(json) << dataOf(runs, metric);
  const auto failed =
      llvm::count_if(runs, [](const SweepRun &run) { return !run.problem.empty(); });
  std::string lead = llvm::formatv("{0} runs, by {1}, {2} values first.", runs.size(), metric,
                                   program.ranksHigher(metric) ? "high" : "low");
  if (failed)
    lead += llvm::formatv(" {0} failed.", failed);
  if (runs.size() > maxCurves)
    lead += llvm::formatv(" The curves are those of the best {0}.", maxCurves);
  stream << textMark("<!--") << "-->\n"
         << html::fill(page, {{"PROGRAM", html::escape(llvm::json::fixUTF8(
                                              llvm::sys::path::filename(program.path)))},
                              {"LEAD", html::escape(lead)},
                              {"TABLE", table(runs, metric)},
                              {"DATA", html::escapeJson(json)}});
}
