//===- Pipelines.h - Pass pipelines -----------------------------------------------------------===//

#ifndef MTC_PASSES_PIPELINES_PIPELINES_H
#define MTC_PASSES_PIPELINES_PIPELINES_H

#include "passes/Passes.h"
#include "passes/adapters/FrozenStorage.h"
#include "passes/fit/FitOptions.h"
#include "passes/losses/Loss.h"
#include "passes/losses/LossScaling.h"
#include "passes/memory/AllocateOptions.h"
#include "passes/offload/OffloadOptions.h"
#include "passes/optimizer/OptimizerOptions.h"
#include "passes/precision/PrecisionOptions.h"
#include "passes/program/Initialization.h"

namespace mtc {

/// Options of the training pipeline. Defaults are those of the passes.
struct TrainingOptions {
  InitializationOptions initialization;
  LossOptions loss;
  LossScalingOptions lossScaling;
  PrecisionOptions precision;
  OptimizerOptions optimizer;
  FrozenStorageOptions frozenStorage;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    visitMember(&TrainingOptions::initialization, option);
    visitMember(&TrainingOptions::loss, option);
    visitMember(&TrainingOptions::lossScaling, option);
    visitMember(&TrainingOptions::precision, option);
    visitMember(&TrainingOptions::optimizer, option);
    visitMember(&TrainingOptions::frozenStorage, option);
  }
};

/// A pass that is not required for correctness and can be skipped, with the stage of its pipeline.
struct OptionalPass {
  std::string name; // Pass argument.
  std::string summary;
  Stage stage;
};
std::vector<OptionalPass> getOptionalPasses();
std::vector<OptionChoice> optionalPassChoices();

/// Optional passes to skip. May contain passes of other pipelines.
struct PassSelection {
  std::vector<std::string> skipped;

  bool skips(llvm::StringRef pass) const { return llvm::is_contained(skipped, pass); }

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&PassSelection::skipped,
           {"skip-pass", "PASS", "Skip an optimization pass", optionalPassChoices()});
  }
};

/// Canonicalizes and applies CSE, including CSE of reads of a variable without a write in between.
void buildSimplifyPipeline(mlir::OpPassManager &manager);

/// Lowers the converted module to the forward stage: simplified, with recognized patterns such as
/// attention replaced by single operations.
void buildForwardPipeline(mlir::OpPassManager &manager, const PassSelection &selection);

/// Lowers the module from its single function @forward to the training program.
void buildTrainingPipeline(mlir::OpPassManager &manager, const TrainingOptions &options);

/// Lowers tensor operations to kernels and library calls, before allocation.
void buildKernelPipeline(mlir::OpPassManager &manager, const PassSelection &selection);

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

/// Reduces peak memory as requested and allocates all values in one arena.
void buildAllocationPipeline(mlir::OpPassManager &manager, const MemoryOptions &options);

/// Registers the pipelines for mtc-opt: `mtc-simplify`, `mtc-forward-pipeline`,
/// `mtc-training-pipeline`, `mtc-kernel-pipeline` and `mtc-allocation-pipeline`.
void registerMtcPipelines();

} // namespace mtc

#endif // MTC_PASSES_PIPELINES_PIPELINES_H
