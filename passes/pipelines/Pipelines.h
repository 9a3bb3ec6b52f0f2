//===- Pipelines.h - The order of the passes --------------------------------------------------===//

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

/// What a training program is made with; defaults are the passes' own.
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

/// A pass that a correct program can do without, and the stage that it is on the way to. Pipelines
/// add them by way of their selection.
struct OptionalPass {
  std::string name; // The pass's argument.
  std::string summary;
  Stage stage;
};
std::vector<OptionalPass> getOptionalPasses();
std::vector<OptionChoice> optionalPassChoices();

/// The optional passes that a pipeline does without. Those of other pipelines may be among them.
struct PassSelection {
  std::vector<std::string> skipped;

  bool skips(llvm::StringRef pass) const { return llvm::is_contained(skipped, pass); }

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    option(&PassSelection::skipped,
           {"skip-pass", "PASS", "Skip an optimization pass", optionalPassChoices()});
  }
};

/// Canonicalizes and merges equal operations, reads of one variable with no write in between
/// included.
void buildSimplifyPipeline(mlir::OpPassManager &manager);

/// From the converted module to one that is ready for training: simplified, and what is recognized
/// in its parts as a whole.
void buildForwardPipeline(mlir::OpPassManager &manager, const PassSelection &selection);

/// From the module after import, with its one function @forward, to the training program.
void buildTrainingPipeline(mlir::OpPassManager &manager, const TrainingOptions &options);

/// From values to kernels and library calls, all but their places.
void buildKernelPipeline(mlir::OpPassManager &manager, const PassSelection &selection);

/// How a program is made to fit.
struct MemoryOptions {
  FitOptions fit;
  AllocateOptions allocate;
  OffloadOptions offload;
  PassSelection passes;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    visitMember(&MemoryOptions::fit, option);
    visitMember(&MemoryOptions::allocate, option);
    visitMember(&MemoryOptions::offload, option);
    visitMember(&MemoryOptions::passes, option);
  }
};

/// From kernels to places in one arena.
void buildAllocationPipeline(mlir::OpPassManager &manager, const MemoryOptions &options);

/// For mtc-opt: `mtc-simplify`, `mtc-forward-pipeline`, `mtc-training-pipeline`,
/// `mtc-kernel-pipeline` and `mtc-allocation-pipeline`.
void registerMtcPipelines();

} // namespace mtc

#endif // MTC_PASSES_PIPELINES_PIPELINES_H
