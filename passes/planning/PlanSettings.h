//===- PlanSettings.h - Settings that decide how a program uses memory ------------------------===//

#ifndef MTC_PASSES_PLANNING_PLANSETTINGS_H
#define MTC_PASSES_PLANNING_PLANSETTINGS_H

#include "passes/adapters/FrozenStorage.h"
#include "passes/autodiff/GradientStorage.h"
#include "passes/losses/Loss.h"
#include "passes/losses/LossScaling.h"
#include "passes/memory/AllocateOptions.h"
#include "passes/optimizer/OptimizerOptions.h"
#include "passes/planning/FitOptions.h"
#include "passes/planning/PassSelection.h"
#include "passes/precision/PrecisionOptions.h"
#include "passes/program/Initialization.h"
#include "passes/sharding/ShardingOptions.h"

#include "llvm/ADT/StringMap.h"

namespace mtc {

/// Options of the training pipeline. Defaults are those of the passes.
struct TrainingOptions {
  InitializationOptions initialization;
  LossOptions loss;
  LossScalingOptions lossScaling;
  PrecisionOptions precision;
  OptimizerOptions optimizer;
  GradientStorageOptions gradientStorage;
  FrozenStorageOptions frozenStorage;
  ShardingOptions sharding;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    visitMember(&TrainingOptions::initialization, option);
    visitMember(&TrainingOptions::loss, option);
    visitMember(&TrainingOptions::lossScaling, option);
    visitMember(&TrainingOptions::precision, option);
    visitMember(&TrainingOptions::optimizer, option);
    visitMember(&TrainingOptions::gradientStorage, option);
    visitMember(&TrainingOptions::frozenStorage, option);
    visitMember(&TrainingOptions::sharding, option);
  }
};

/// Options of the allocation pipeline.
struct MemoryOptions {
  FitOptions fit;
  AllocateOptions allocate;
  PassSelection passes;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    visitMember(&MemoryOptions::fit, option);
    visitMember(&MemoryOptions::allocate, option);
    visitMember(&MemoryOptions::passes, option);
  }
};

/// All settings that techniques may change, of every stage.
struct PlanSettings {
  llvm::StringMap<int64_t> dims; ///< Sizes of symbolic dimensions, of the first shape.
  /// Sizes of the further shapes, for dimensions in `dims`; the other dimensions are the same.
  std::vector<llvm::StringMap<int64_t>> shapes;
  Precision precision = Precision::F32;
  TrainingOptions training;
  FitOptions fit;
  AllocateOptions allocate;
  PassSelection passes;

  /// Returns the options of the allocation pipeline.
  MemoryOptions getMemoryOptions() const { return {fit, allocate, passes}; }

  /// Report options that have no effect, since others disable what they configure. `space` is that
  /// to which the target offloads, and `hasBudget` whether there will be a memory budget.
  void checkLossScaling(RefuseOption refuse) const;
  void checkOffload(MemorySpace space, bool hasBudget, RefuseOption refuse) const;
};

} // namespace mtc

#endif // MTC_PASSES_PLANNING_PLANSETTINGS_H
