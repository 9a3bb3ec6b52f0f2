//===- PlanPage.cpp - Memory plan as an HTML page ---------------------------------------------===//

#include "driver/PlanPage.h"

#include "driver/PlanText.h"
#include "support/compiler/WrittenByMtc.h"
#include "support/pages/html.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mtc;
using namespace mtc::tool;
using llvm::StringRef;

/// The page, with placeholders such as @DATA@.
static constexpr llvm::StringLiteral page =
#include "driver/PlanPage.inc"
    ;

using Category = MemoryTimeline::Category;

/// In the order of the page's colors.
static constexpr Category allCategories[] = {
    Category::Parameter, Category::Gradient, Category::Optimizer,         Category::Activation,
    Category::Workspace, Category::Data,     Category::ActivationGradient};

namespace {

/// Deduplicates strings.
class Strings {
public:
  int64_t add(llvm::StringRef text) {
    auto [known, isNew] = numbers.try_emplace(text, all.size());
    if (isNew)
      all.push_back(llvm::json::fixUTF8(text));
    return known->second;
  }
  llvm::json::Array take() { return std::move(all); }

private:
  llvm::StringMap<int64_t> numbers;
  llvm::json::Array all;
};

} // namespace

/// Returns a name with a capital letter.
static std::string titleOf(Category category) {
  if (category == Category::Optimizer)
    return "Optimizer state";
  if (category == Category::ActivationGradient)
    return "Gradients of activations";
  std::string name = MemoryTimeline::nameOf(category).str();
  name.front() = llvm::toUpper(name.front());
  return name;
}

static llvm::json::Object pageData(const MemoryTimeline &timeline) {
  Strings strings;
  llvm::json::Array categories, titles, phases, operations, lifetimes;
  for (Category category : allCategories) {
    categories.push_back(MemoryTimeline::nameOf(category));
    titles.push_back(titleOf(category));
  }
  for (const MemoryTimeline::Phase &phase : timeline.phases)
    phases.push_back(
        llvm::json::Object{{"name", phase.name}, {"first", phase.first}, {"count", phase.count}});
  for (StringRef operation : timeline.operations)
    operations.push_back(strings.add(operation));
  for (const MemoryTimeline::Lifetime &each : timeline.lifetimes)
    lifetimes.push_back(llvm::json::Array{each.offset, each.bytes, each.first, each.last,
                                          static_cast<int64_t>(each.category),
                                          strings.add(each.type), strings.add(each.name),
                                          strings.add(each.user), strings.add(each.reason)});
  return llvm::json::Object{{"arena_bytes", timeline.arenaBytes},
                            {"peak", timeline.peak},
                            {"live", llvm::json::Array(timeline.live)},
                            {"categories", std::move(categories)},
                            {"titles", std::move(titles)},
                            {"phases", std::move(phases)},
                            {"operations", std::move(operations)},
                            {"lifetimes", std::move(lifetimes)},
                            {"strings", strings.take()}};
}

static std::string colorOf(Category category) {
  return "var(--c" + std::to_string(static_cast<int>(category)) + ")";
}

/// "3 MiB" without the exact number, for which the page has a column of its own.
static std::string sizeText(int64_t bytes) {
  return StringRef(formatBytes(bytes)).split(" (").first.str();
}

/// Returns whether the budget is met and by how much.
static html::Tile budgetTile(const PlanFacts &facts) {
  const int64_t left = *facts.budget - facts.plan.counted;
  return {"Budget", sizeText(*facts.budget), "",
          left >= 0 ? "met: " + sizeText(left) + " are left"
                    : "not met: " + sizeText(-left) + " are missing"};
}

static std::string tiles(const PlanFacts &facts, size_t aliveAtPeak) {
  const MemoryTimeline &timeline = facts.timeline;
  const int64_t live = timeline.live.empty() ? 0 : timeline.live[timeline.peak];
  const auto share = [&](int64_t bytes) {
    return timeline.arenaBytes ? 100.0 * bytes / timeline.arenaBytes : 0.0;
  };
  std::vector<html::Tile> list = {{"Arena", sizeText(timeline.arenaBytes), "",
                                   html::wholeText(timeline.arenaBytes) + " bytes"}};
  if (facts.budget)
    list.push_back(budgetTile(facts));
  list.push_back({"Live at the peak", sizeText(live), "",
                  llvm::formatv("{0:f1} % of the arena", share(live))});
  list.push_back({"Values", html::wholeText(timeline.lifetimes.size()), "",
                  html::wholeText(aliveAtPeak) + " live at the peak"});
  list.push_back({"Operations", html::wholeText(timeline.operations.size()), "",
                  "peak at operation " + html::wholeText(timeline.peak)});
  return html::tiles(list);
}

/// Returns the phase that an operation belongs to.
static StringRef phaseOf(const MemoryTimeline &timeline, int64_t operation) {
  for (const MemoryTimeline::Phase &phase : timeline.phases)
    if (phase.first <= operation && operation < phase.first + phase.count)
      return phase.name;
  return "";
}

static std::string leadOf(const PlanFacts &facts) {
  const MemoryTimeline &timeline = facts.timeline;
  std::string lead =
      "The arena is the memory that the program allocates once, when it starts. Each "
      "tensor has a fixed place in it, and tensors that are not live at the same "
      "time share places. Target " +
      facts.target + ".";
  if (!timeline.operations.empty())
    lead += llvm::formatv(" The peak is in the phase {0}, at {1}.",
                          phaseOf(timeline, timeline.peak), timeline.operations[timeline.peak]);
  if (!facts.techniques.empty())
    lead += " Lowered by " + facts.techniques + ".";
  return lead;
}

/// Returns the section of the flags that would lower the peak; "" if there is a budget and none are
/// known.
static std::string suggestions(const PlanFacts &facts) {
  const std::string begin = "<section>\n<h2>What would lower the peak</h2>\n", end = "</section>\n";
  if (!facts.budget)
    return begin +
           "<p class=\"hint\">--memory SIZE meets a budget by techniques that keep the results.\n"
           "This page then lists further flags. --techniques shows what each one saves.</p>\n" +
           end;
  if (facts.suggestions.known.empty())
    return "";
  std::vector<html::Row> rows;
  rows.reserve(facts.suggestions.known.size());
  for (const Suggestion &each : facts.suggestions.known)
    rows.push_back({{each.flags, sizeText(each.peak), html::wholeText(each.peak),
                     describeEffect(each.effect).str()}});
  return begin + "<div class=\"panel long\">\n" +
         html::table("Flags that lower the peak, and their effect on results",
                     {{"Flags", false}, {"Peak"}, {"Bytes"}, {"Effect on results", false}}, rows) +
         "</div>\n" + end;
}

static std::string categories(const MemoryTimeline &timeline,
                              llvm::ArrayRef<const MemoryTimeline::Lifetime *> alive) {
  std::vector<html::Share> shares;
  std::vector<html::Row> rows;
  int64_t gaps = timeline.arenaBytes;
  auto addRow = [&](std::string name, int64_t bytes, int64_t values, std::string color) {
    rows.push_back(
        {{std::move(name), sizeText(bytes), html::wholeText(bytes),
          values ? html::wholeText(values) : "",
          llvm::formatv("{0:f1} %",
                        timeline.arenaBytes ? 100.0 * bytes / timeline.arenaBytes : 0.0)},
         std::move(color)});
  };
  for (Category category : allCategories) {
    int64_t bytes = 0, values = 0;
    for (const MemoryTimeline::Lifetime *each : alive)
      if (each->category == category) {
        bytes += each->bytes;
        ++values;
      }
    gaps -= bytes;
    if (!values)
      continue;
    shares.push_back({static_cast<double>(bytes) / timeline.arenaBytes, colorOf(category)});
    addRow(titleOf(category), bytes, values, colorOf(category));
  }
  if (gaps)
    addRow("Not used at the peak", gaps, 0, "");
  return html::stackedBar("Shares of the arena at the peak", shares) +
         html::table("Bytes that are live at the peak, by category",
                     {{"Category", false}, {"Size"}, {"Bytes"}, {"Values"}, {"Share"}}, rows);
}

static std::string values(llvm::ArrayRef<const MemoryTimeline::Lifetime *> alive) {
  constexpr size_t maximum = 200;
  std::vector<html::Row> rows;
  for (const MemoryTimeline::Lifetime *each : alive.take_front(maximum))
    rows.push_back(
        {{each->name.str(), sizeText(each->bytes), html::wholeText(each->bytes), each->type.str(),
          each->reason.str(), llvm::formatv("{0} – {1}", each->first, each->last)},
         colorOf(each->category)});
  return html::table("Values that are live at an operation, largest first",
                     {{"Node", false},
                      {"Size"},
                      {"Bytes"},
                      {"Type", false},
                      {"Why it is live", false},
                      {"Operations"}},
                     rows);
}

void mtc::tool::writePlanPage(const PlanFacts &facts, llvm::raw_ostream &stream) {
  const MemoryTimeline &timeline = facts.timeline;
  const std::string name = llvm::json::fixUTF8(facts.model);
  llvm::json::Object data = pageData(timeline);
  data["model"] = name;
  data["target"] = facts.target;
  std::string json;
  llvm::raw_string_ostream(json) << llvm::json::Value(std::move(data));
  const std::vector<const MemoryTimeline::Lifetime *> alive = timeline.getAliveAtPeak();
  stream << textMark("<!--") << "-->\n"
         << html::fill(page, {{"MODEL", html::escape(name)},
                              {"LEAD", html::escape(leadOf(facts))},
                              {"TILES", tiles(facts, alive.size())},
                              {"CATEGORIES", categories(timeline, alive)},
                              {"SUGGESTIONS", suggestions(facts)},
                              {"LISTED", "Values live at the peak"},
                              {"VALUES", values(alive)},
                              {"DATA", html::escapeJson(json)}});
}
