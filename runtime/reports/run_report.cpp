// The intervals of the page, and the data of the page that a resumed run continues.
#include "runtime/reports/run_report.h"

#include "runtime/io/durable_file.h"
#include "runtime/reports/report_page.h"
#include "runtime/reports/wall_clock.h"
#include "runtime/support/messages.h"
#include "runtime/support/process.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace mtc::runtime {
namespace {

/// Returns the data of a page; a discarded value if the file is not one.
nlohmann::json dataOf(const std::string &path) {
  constexpr std::streamoff longest = 64 << 20;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() > longest)
    return nlohmann::json::value_t::discarded;
  file.seekg(0);
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const size_t begin = page.find(pageDataStart);
  if (begin == std::string::npos)
    return nlohmann::json::value_t::discarded;
  const size_t first = begin + pageDataStart.size(), end = page.find("</script>", first);
  return nlohmann::json::parse(page.substr(first, end - first), nullptr, false);
}

} // namespace

RunReport::RunReport(const MtcProgram &program, std::string path)
    : program(program), path(std::move(path)) {
  record.fingerprint = program.fingerprint;
}

void RunReport::begin(const RunFacts &facts) {
  record.facts = facts;
  record.lastStep.step = facts.firstStep;
  if (facts.firstStep > 0 && !record.continueFrom(dataOf(path)))
    note("--report ", path, ": starts with step ", facts.firstStep + 1,
         ", since the file has no report of the earlier steps");
  const double now = secondsSince1970();
  record.executions.push_back({now, now, facts.firstStep, facts.firstStep});
  start = Clock::now();
  write();
}

void RunReport::step(const StepMetrics &metrics) {
  record.steps.add(metrics);
  record.lastStep = metrics;
  record.executions.back().lastStep = metrics.step;
  writeIfDue();
}

void RunReport::validation(const ValidationMetrics &metrics) {
  record.addValidation(metrics);
  writeIfDue();
}

void RunReport::end(const RunEnding &ending) {
  record.isRunning = false;
  record.ending = ending;
  write();
}

void RunReport::writeIfDue() {
  if (Clock::now() >= nextWrite)
    write();
}

void RunReport::write() {
  using std::chrono::seconds;
  const Clock::time_point begin = Clock::now();
  const Clock::duration interval =
      std::clamp<Clock::duration>((begin - start) / 20, seconds(2), seconds(30));
  record.executions.back().end = secondsSince1970();
  record.processPeakBytes = processMemory().peak;
  DurableFile file(path);
  file.append(reportPage(program, record, std::chrono::ceil<seconds>(interval).count()));
  file.commit();
  const Clock::time_point end = Clock::now();
  nextWrite = end + std::max(interval, 100 * (end - begin));
}

} // namespace mtc::runtime
