//===- Changes.cpp - Changes of flags that reduce memory --------------------------------------===//

#include "driver/Changes.h"

#include "frontend/reader/Import.h"
#include "ir/interfaces/TargetInfo.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mtc;
using namespace mtc::tool;

static constexpr llvm::StringLiteral precisionName = "precision", bitsName = "optimizer-bits",
                                     accumulateName = "accumulate";

std::vector<OptionChoice> mtc::tool::allowChoices() {
  return {{precisionName.str(), "bf16 instead of f32"},
          {bitsName.str(), "8-bit optimizer state"},
          {accumulateName.str(), "gradient accumulation over micro-batches"}};
}

/// Returns the batch dimension: the first symbolic dimension that is leading in an input.
static std::optional<std::string> findBatch(Compilation &compilation) {
  for (const mtc::onnx::ModelInput &input : mtc::onnx::modelInputs(*compilation.getModel()))
    if (!input.dims.empty() && compilation.getDims().contains(input.dims.front()))
      return input.dims.front();
  return std::nullopt;
}

std::vector<Change> mtc::tool::findChanges(const Options &options, Compilation &compilation) {
  std::vector<Change> changes;
  if (options.recompute.recompute != "auto")
    changes.push_back(
        {"", "--recompute auto", [](Options &all) { all.recompute.recompute = "auto"; }});
  if (options.tile.tile == "none")
    changes.push_back({"", "--tile auto", [](Options &all) { all.tile.tile = "auto"; }});
  if (options.precision == Precision::F32 || options.precision == Precision::TF32)
    changes.push_back({precisionName.str(), "--precision bf16",
                       [](Options &all) { all.precision = Precision::BF16; }});
  if (options.training.optimizer.optimizerBits == "32")
    changes.push_back({bitsName.str(), "--optimizer-bits 8",
                       [](Options &all) { all.training.optimizer.optimizerBits = "8"; }});
  const MemorySpace space = TargetInfo::of(compilation.getModule()).getOffloadSpace();
  if (options.offload.getUses(space).isOff())
    changes.push_back(
        {"", "--offload optimizer", [](Options &all) { all.offload.offload = {"optimizer"}; }});
  return changes;
}

std::optional<Change> mtc::tool::findHalfBatch(Compilation &compilation) {
  std::optional<std::string> batch = findBatch(compilation);
  const int64_t half = batch ? compilation.getDims().lookup(*batch) / 2 : 0;
  if (!half)
    return std::nullopt;
  return Change{"", llvm::formatv("--dim {0}={1}", *batch, half).str(),
                [=](Options &all) { all.dims[*batch] = half; }};
}

std::optional<Change> mtc::tool::findAccumulation(const Options &options, Compilation &compilation,
                                                  int64_t parts) {
  std::optional<std::string> batch = findBatch(compilation);
  const int64_t rows = batch ? compilation.getDims().lookup(*batch) : 0;
  if (!rows || rows % parts != 0)
    return std::nullopt;
  const int64_t part = rows / parts, count = options.training.loss.microSteps * parts;
  return Change{accumulateName.str(),
                llvm::formatv("--accumulate {0} --dim {1}={2}", count, *batch, part).str(),
                [=](Options &all) {
                  all.dims[*batch] = part;
                  all.training.loss.microSteps = count;
                }};
}
