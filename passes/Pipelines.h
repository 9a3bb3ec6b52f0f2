//===- Pipelines.h - The order of the passes --------------------------------------------------===//

#ifndef MTC_PASSES_PIPELINES_H
#define MTC_PASSES_PIPELINES_H

#include "passes/Passes.h"

namespace mtc {

/// What a training program is made with; defaults are the passes' own.
struct TrainingOptions {
  AttachLossOptions loss;
  AutodiffOptions autodiff;
  OptimizerOptions optimizer;
};

/// Canonicalizes and merges equal operations, reads of one variable with no write in between
/// included.
void buildSimplifyPipeline(mlir::OpPassManager &manager);

/// From the converted module to one that is ready for training: simplified, and what is recognized
/// in its parts as a whole; without the optional passes named in `skipped`.
void buildForwardPipeline(mlir::OpPassManager &manager, llvm::ArrayRef<std::string> skipped = {});

/// From the module after import, with its one function @forward, to the training program.
void buildTrainingPipeline(mlir::OpPassManager &manager, const TrainingOptions &options);

/// The passes that a correct program can do without, by their arguments: what a user may skip to
/// find a fault or to see what a pass is worth; and the stage that each is on the way to.
llvm::ArrayRef<std::pair<llvm::StringRef, Stage>> getOptionalPasses();

/// From values to kernels and library calls, all but their places; without the optional passes
/// named in `skipped`.
void buildKernelPipeline(mlir::OpPassManager &manager, llvm::ArrayRef<std::string> skipped = {});

/// From kernels to places in one arena.
void buildPlacementPipeline(mlir::OpPassManager &manager);

/// For mtc-opt: `mtc-simplify`, `mtc-forward-pipeline`, `mtc-training-pipeline`,
/// `mtc-kernel-pipeline` and `mtc-placement-pipeline`.
void registerMtcPipelines();

} // namespace mtc

#endif // MTC_PASSES_PIPELINES_H
