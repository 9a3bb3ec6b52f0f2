//===- Remedies.cpp - What would make a program fit -------------------------------------------===//

#include "driver/Remedies.h"

#include "driver/PlanText.h"
#include "driver/Report.h"
#include "driver/StageText.h"
#include "frontend/reader/Import.h"
#include "passes/memory/MemoryPlan.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mtc;
using namespace mtc::tool;

namespace {

/// A flag, and how it changes the options.
struct Change {
  std::string flag;
  std::function<void(Options &)> apply;
};

/// The dimension that a batch has: the first of those that come first in an input.
std::optional<std::string> findBatch(Compilation &compilation) {
  for (const mtc::onnx::ModelInput &input : mtc::onnx::modelInputs(*compilation.getModel()))
    if (!input.dims.empty() && compilation.getDims().contains(input.dims.front()))
      return input.dims.front();
  return std::nullopt;
}

std::vector<Change> findChanges(const Options &options, Compilation &compilation) {
  std::vector<Change> changes;
  if (options.recompute.recompute == "none")
    changes.push_back({"--recompute auto", [](Options &all) { all.recompute.recompute = "auto"; }});
  if (options.precision == Precision::F32 || options.precision == Precision::TF32)
    changes.push_back({"--precision bf16", [](Options &all) { all.precision = Precision::BF16; }});
  if (options.training.optimizer.optimizerBits == "32")
    changes.push_back(
        {"--optimizer-bits 8", [](Options &all) { all.training.optimizer.optimizerBits = "8"; }});
  if (options.offload.offload.empty())
    changes.push_back(
        {"--offload optimizer", [](Options &all) { all.offload.offload = {"optimizer"}; }});
  if (std::optional<std::string> batch = findBatch(compilation))
    if (int64_t half = compilation.getDims().lookup(*batch) / 2)
      changes.push_back({llvm::formatv("--dim {0}={1}", *batch, half).str(),
                         [=](Options &all) { all.dims[*batch] = half; }});
  return changes;
}

std::optional<int64_t> planAgain(const Options &options) {
  MutedMessages muted;
  Compilation compilation(options);
  if (failed(compilation.import()) || failed(compilation.lower(Stage::Placed)))
    return std::nullopt;
  return MemoryPlan::ofPlaced(compilation.getModule()).peak;
}

} // namespace

std::vector<Remedy> mtc::tool::findRemedies(const Options &options, Compilation &compilation,
                                            int64_t peak) {
  if (isStageText(options.model) || !compilation.getModel())
    return {};
  Options plain = options;
  plain.remarks.clear();
  plain.irFolder.clear();
  plain.reproducer.clear();
  std::vector<Remedy> remedies;
  Options all = plain;
  std::string allFlags;
  for (const Change &change : findChanges(options, compilation)) {
    Options changed = plain;
    change.apply(changed);
    std::optional<int64_t> needed = planAgain(changed);
    if (!needed || *needed >= peak)
      continue;
    remedies.push_back({change.flag, *needed});
    change.apply(all);
    allFlags += (allFlags.empty() ? "" : " ") + change.flag;
  }
  if (remedies.size() > 1)
    if (std::optional<int64_t> needed = planAgain(all))
      remedies.push_back({allFlags, *needed});
  return remedies;
}

std::string mtc::tool::describe(llvm::ArrayRef<Remedy> remedies) {
  std::string text;
  for (const Remedy &remedy : remedies)
    text += llvm::formatv("{0}{1} with {2}", text.empty() ? "it would need " : ", ",
                          formatBytes(remedy.peak), remedy.flags);
  return text;
}

llvm::json::Array mtc::tool::toJson(llvm::ArrayRef<Remedy> remedies) {
  llvm::json::Array array;
  for (const Remedy &remedy : remedies)
    array.push_back(llvm::json::Object{{"flags", remedy.flags}, {"peak_bytes", remedy.peak}});
  return array;
}
