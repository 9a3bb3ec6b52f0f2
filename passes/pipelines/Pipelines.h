//===- Pipelines.h - The order of the passes --------------------------------------------------===//

#ifndef MTC_PASSES_PIPELINES_PIPELINES_H
#define MTC_PASSES_PIPELINES_PIPELINES_H

#include "passes/Passes.h"
#include "passes/losses/Loss.h"
#include "passes/optimizer/OptimizerOptions.h"

namespace mtc {

/// What a training program is made with; defaults are the passes' own.
struct TrainingOptions {
  LossOptions loss;
  AutodiffOptions autodiff;
  OptimizerOptions optimizer;

  template <typename Visitor> static void visitOptions(Visitor &&option) {
    visitMember(&TrainingOptions::loss, option);
    option([](TrainingOptions &all) -> auto & { return all.autodiff.accumulate; },
           {"accumulate", "", "see mtc-autodiff"});
    visitMember(&TrainingOptions::optimizer, option);
  }
};

/// Which of the optional passes, those that a correct program can do without, a pipeline has: what
/// a user skips to find a fault or to see what a pass is worth.
using PassFilter = llvm::function_ref<bool(const mlir::Pass &)>;
bool takeEveryPass(const mlir::Pass &pass);

/// Canonicalizes and merges equal operations, reads of one variable with no write in between
/// included.
void buildSimplifyPipeline(mlir::OpPassManager &manager);

/// From the converted module to one that is ready for training: simplified, and what is recognized
/// in its parts as a whole.
void buildForwardPipeline(mlir::OpPassManager &manager, PassFilter takes = takeEveryPass);

/// From the module after import, with its one function @forward, to the training program.
void buildTrainingPipeline(mlir::OpPassManager &manager, const TrainingOptions &options);

/// From values to kernels and library calls, all but their places.
void buildKernelPipeline(mlir::OpPassManager &manager, PassFilter takes = takeEveryPass);

/// From kernels to places in one arena.
void buildAllocationPipeline(mlir::OpPassManager &manager);

/// A pass that a pipeline asks its filter for, and the stage that it is on the way to.
struct OptionalPass {
  std::string name; // The pass's argument.
  std::string summary;
  Stage stage;
};
std::vector<OptionalPass> getOptionalPasses();

/// For mtc-opt: `mtc-simplify`, `mtc-forward-pipeline`, `mtc-training-pipeline`,
/// `mtc-kernel-pipeline` and `mtc-allocation-pipeline`.
void registerMtcPipelines();

} // namespace mtc

#endif // MTC_PASSES_PIPELINES_PIPELINES_H
