//===- Remedies.cpp - Suggestions to meet the memory budget -----------------------------------===//

#include "driver/Remedies.h"

#include "driver/Changes.h"
#include "driver/PlanText.h"
#include "driver/ProgressLine.h"
#include "driver/Report.h"
#include "driver/StageText.h"
#include "passes/memory/MemoryPlan.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mtc;
using namespace mtc::tool;

namespace {

std::optional<int64_t> planAgain(const Options &options) {
  HeldMessages dropped;
  Compilation compilation(options);
  if (failed(compilation.import()) || failed(compilation.lower(Stage::Allocated)))
    return std::nullopt;
  return MemoryPlan::ofAllocated(compilation.getModule()).peak;
}

} // namespace

std::vector<Remedy> mtc::tool::findRemedies(const Options &options, Compilation &compilation,
                                            int64_t peak) {
  if (isStageText(options.model) || !compilation.getModel())
    return {};
  ProgressLine line("searching for flags that meet the budget");
  Options plain = options;
  plain.remarks.clear();
  plain.irFolder.clear();
  plain.reproducer.clear();
  plain.isEstimate = true;
  std::vector<Remedy> remedies;
  Options all = plain;
  std::string allFlags;
  std::vector<Change> changes = findChanges(options, compilation);
  if (std::optional<Change> half = findHalfBatch(compilation))
    changes.push_back(*half);
  for (auto [number, change] : llvm::enumerate(changes)) {
    line.update(number, changes.size());
    Options changed = plain;
    change.apply(changed);
    std::optional<int64_t> needed = planAgain(changed);
    if (!needed || *needed >= peak)
      continue;
    remedies.push_back({change.flags, *needed});
    change.apply(all);
    allFlags += (allFlags.empty() ? "" : " ") + change.flags;
  }
  if (remedies.size() > 1)
    if (std::optional<int64_t> needed = planAgain(all))
      remedies.push_back({allFlags, *needed});
  return remedies;
}

std::string mtc::tool::describe(llvm::ArrayRef<Remedy> remedies) {
  std::string text;
  for (const Remedy &remedy : remedies)
    text += llvm::formatv("{0}{1} with {2}", text.empty() ? "lower peaks: " : ", ",
                          formatBytes(remedy.peak), remedy.flags);
  return text;
}

llvm::json::Array mtc::tool::toJson(llvm::ArrayRef<Remedy> remedies) {
  llvm::json::Array array;
  for (const Remedy &remedy : remedies)
    array.push_back(llvm::json::Object{{"flags", remedy.flags}, {"peak_bytes", remedy.peak}});
  return array;
}
