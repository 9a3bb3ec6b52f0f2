//===- PlanPage.cpp - Memory plan as an HTML page ---------------------------------------------===//

#include "driver/PlanPage.h"

#include "tools/support/WrittenByMtc.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"

using namespace mtc;
using namespace mtc::tool;

/// The page, with a placeholder for the data.
static constexpr llvm::StringLiteral page =
#include "driver/PlanPage.inc"
    ;
static constexpr llvm::StringLiteral dataMark = "@DATA@";

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

static llvm::json::Object toJson(const MemoryTimeline &timeline) {
  using Category = MemoryTimeline::Category;
  Strings strings;
  llvm::json::Array categories, steps, operations, lifetimes;
  for (Category category : {Category::Parameter, Category::Gradient, Category::Optimizer,
                            Category::Activation, Category::Workspace, Category::Data})
    categories.push_back(MemoryTimeline::nameOf(category));
  for (const MemoryTimeline::Step &step : timeline.steps)
    steps.push_back(
        llvm::json::Object{{"name", step.name}, {"first", step.first}, {"count", step.count}});
  for (const std::string &operation : timeline.operations)
    operations.push_back(strings.add(operation));
  for (const MemoryTimeline::Lifetime &each : timeline.lifetimes)
    lifetimes.push_back(llvm::json::Array{each.offset, each.bytes, each.first, each.last,
                                          static_cast<int64_t>(each.category),
                                          strings.add(each.type), strings.add(each.name),
                                          strings.add(each.reader), strings.add(each.reason)});
  return llvm::json::Object{{"arena_bytes", timeline.arenaBytes},
                            {"peak", timeline.peak},
                            {"live", llvm::json::Array(timeline.live)},
                            {"categories", std::move(categories)},
                            {"steps", std::move(steps)},
                            {"operations", std::move(operations)},
                            {"lifetimes", std::move(lifetimes)},
                            {"strings", strings.take()}};
}

void mtc::tool::writePlanPage(const MemoryTimeline &timeline, llvm::StringRef model,
                              llvm::StringRef target, llvm::raw_ostream &stream) {
  llvm::json::Object data = toJson(timeline);
  data["model"] = llvm::json::fixUTF8(model);
  data["target"] = target;
  std::string json;
  llvm::raw_string_ostream(json) << llvm::json::Value(std::move(data));
  auto [before, after] = page.split(dataMark);
  stream << textMark("<!--") << "-->\n" << before;
  for (char c : json) // Escape `<`, so that no text of the model can close the element.
    if (c == '<')
      stream << "\\u003c";
    else
      stream << c;
  stream << after;
}
