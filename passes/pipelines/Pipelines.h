//===- Pipelines.h - Pass pipelines -----------------------------------------------------------===//

#ifndef MTC_PASSES_PIPELINES_PIPELINES_H
#define MTC_PASSES_PIPELINES_PIPELINES_H

#include "passes/Passes.h"
#include "passes/planning/PlanSettings.h"

namespace mtc {

/// Canonicalizes and applies CSE, including CSE of reads of a variable without a write in between.
void buildSimplifyPipeline(mlir::OpPassManager &manager);

/// Lowers the converted module to the forward stage: simplified, with recognized patterns such as
/// attention replaced by single operations.
void buildForwardPipeline(mlir::OpPassManager &manager, const PassSelection &selection);

/// Lowers the module from its single function @forward to functions that compute the loss and
/// gradients, before the update exists.
void buildGradientsOfTraining(mlir::OpPassManager &manager, const TrainingOptions &options);

/// Adds the update to the result of `buildGradientsOfTraining`, or to a pipeline stage of it.
void buildUpdatePipeline(mlir::OpPassManager &manager, const TrainingOptions &options);

/// Lowers the module from its single function @forward to the training program, without stages.
void buildTrainingPipeline(mlir::OpPassManager &manager, const TrainingOptions &options);

struct GradientPipelineOptions {
  LossOptions loss;
  llvm::SmallVector<std::string> inputs; ///< Inputs whose gradients are computed.
  llvm::SmallVector<std::string> keep;   ///< Names of operations that are not decomposed.
};

/// Lowers the module from its single function @forward to @micro_step, which computes the loss and
/// the gradients: without dropout, in core operations and the operations to keep.
void buildGradientPipeline(mlir::OpPassManager &manager, const GradientPipelineOptions &options);

/// Lowers tensor operations to kernels and library calls, before allocation.
void buildKernelPipeline(mlir::OpPassManager &manager, const PassSelection &selection);

/// Reduces peak memory as requested and allocates all values in one arena.
void buildAllocationPipeline(mlir::OpPassManager &manager, const MemoryOptions &options);

/// Registers the pipelines for mtc-opt: `mtc-simplify`, `mtc-forward-pipeline`,
/// `mtc-training-pipeline`, `mtc-kernel-pipeline` and `mtc-allocation-pipeline`.
void registerMtcPipelines();

} // namespace mtc

#endif // MTC_PASSES_PIPELINES_PIPELINES_H
