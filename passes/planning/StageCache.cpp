//===- StageCache.cpp - Lowered modules of one model ------------------------------------------===//

#include "passes/planning/StageCache.h"

#include "passes/planning/ParallelParts.h"

#include "mlir/IR/Threading.h"

#include <set>

using namespace mlir;
using namespace mtc;

StageCache::StageCache(PlanSource &source, PlanSettings given)
    : source(source), given(std::move(given)) {}

StageCache::~StageCache() {
  // Modules of large models take long to destroy.
  parallelForEach(&source.getContext(), modules, [](auto &each) { each.second.module = nullptr; });
}

std::string StageCache::keyOf(Stage stage, const PlanSettings &settings) {
  std::string key;
  llvm::raw_string_ostream os(key);
  SmallVector<StringRef> names(settings.dims.keys());
  llvm::sort(names);
  for (StringRef name : names)
    os << name << '=' << settings.dims.lookup(name) << '\n';
  auto addSkipped = [&](Stage of) {
    for (const OptionalPass &pass : getOptionalPasses())
      if (pass.stage == of && settings.passes.skips(pass.name))
        os << "no " << pass.name << '\n';
  };
  if (stage >= Stage::Forward) {
    os << stringifyEnum(settings.precision) << '\n';
    addSkipped(Stage::Forward);
  }
  TrainingOptions training = settings.training;
  if (stage >= Stage::Training)
    TrainingOptions::visitOptions([&](auto access, const OptionText &text, auto...) {
      os << text.name << ' ' << spellOption(std::invoke(access, training)) << '\n';
    });
  if (stage >= Stage::Kernels)
    addSkipped(Stage::Kernels);
  return key;
}

StageCache::Lowered &StageCache::lowerTo(Stage stage, const PlanSettings &settings) {
  auto [entry, isNew] = modules.try_emplace({stage, keyOf(stage, settings)});
  Lowered &result = entry->second;
  if (!isNew)
    return result;
  auto holdMessages = [&](Diagnostic &message) { result.messages.push_back(std::move(message)); };
  const Stage first = source.getFirstStage();
  if (stage < first ||
      (stage == first && first != Stage::Imported && keyOf(stage, settings) != keyOf(stage, given)))
    return result; // A text has decided these settings.
  if (stage == first) {
    ScopedDiagnosticHandler handler(&source.getContext(), holdMessages);
    if (FailureOr<OwningOpRef<ModuleOp>> imported = source.import(settings); succeeded(imported))
      result.module = std::move(*imported);
    result.messages.clear(); // The import of the given settings has printed them.
    return result;
  }
  Lowered &before = lowerTo(previousStage(stage), settings);
  if (!before.module)
    return result;
  OwningOpRef<ModuleOp> module = before.module->clone();
  ScopedDiagnosticHandler handler(&source.getContext(), holdMessages);
  if (succeeded(source.lower(*module, stage, settings)))
    result.module = std::move(module);
  return result;
}

void StageCache::lowerAll(ArrayRef<Request> requests, llvm::function_ref<bool()> isTimeUp) {
  struct Part {
    std::string key;
    const PlanSettings *settings;
    ModuleOp before;
    OwningOpRef<ModuleOp> module = {};
    bool isLowered = false;
    std::vector<Diagnostic> messages = {};
  };
  for (Stage stage : {Stage::Forward, Stage::Training, Stage::Kernels}) {
    if (stage <= source.getFirstStage())
      continue;
    if (isTimeUp())
      return;
    std::vector<Part> parts;
    std::set<std::string> known;
    for (const Request &each : requests) {
      std::string key = keyOf(stage, each.settings);
      if (stage > each.last || contains(stage, key) || !known.insert(key).second)
        continue;
      if (Lowered &before = lowerTo(previousStage(stage), each.settings); before.module)
        parts.push_back({std::move(key), &each.settings, *before.module});
    }
    if (parts.size() < 2)
      continue;
    forEachInParallel<Part>(source.getContext(), parts, [&](Part &part) {
      if (isTimeUp())
        return;
      part.module = part.before.clone();
      part.isLowered = succeeded(source.lower(*part.module, stage, *part.settings));
    });
    for (Part &part : parts)
      if (part.isLowered)
        add(stage, std::move(part.key), {std::move(part.module), std::move(part.messages)});
  }
}

void StageCache::lowerShared(ArrayRef<const PlanSettings *> all) {
  for (Stage stage : {Stage::Forward, Stage::Training, Stage::Kernels}) {
    std::set<std::string> known;
    for (const PlanSettings *settings : all)
      if (!known.insert(keyOf(stage, *settings)).second)
        lowerTo(stage, *settings);
  }
}

Stage StageCache::findReached(const PlanSettings &settings) const {
  Stage stage = Stage::Kernels;
  while (stage > source.getFirstStage() && !contains(stage, keyOf(stage, settings)))
    stage = previousStage(stage);
  return stage;
}
