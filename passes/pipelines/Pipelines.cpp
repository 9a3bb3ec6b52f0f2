//===- Pipelines.cpp - Pass pipelines ---------------------------------------------------------===//

#include "passes/pipelines/Pipelines.h"

#include "passes/planning/Fit.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mtc;

void mtc::buildSimplifyPipeline(OpPassManager &manager) {
  // Regions have one block, and the rewriter erases dead operations itself.
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  manager.addPass(createCanonicalizerPass(config));
  manager.addPass(createMergeEqual());
}

/// Whether a pipeline includes an optional pass.
using PassFilter = llvm::function_ref<bool(const Pass &)>;

static void addOptional(OpPassManager &manager, std::unique_ptr<Pass> pass, PassFilter takes) {
  if (takes(*pass))
    manager.addPass(std::move(pass));
}

static void buildForward(OpPassManager &manager, PassFilter takes) {
  manager.addPass(createWidenElements());
  // This pass precedes simplification, which turns some convolutions into contractions.
  addOptional(manager.nest<func::FuncOp>(), createKeepChannelsLast(), takes);
  buildSimplifyPipeline(manager); // Recognition patterns match canonical form.
  addOptional(manager.nest<func::FuncOp>(), createRecognizeAttention(), takes);
  buildSimplifyPipeline(manager);
  manager.addPass(createReachStage({Stage::Forward}));
}

void mtc::buildGradientsOfTraining(OpPassManager &manager, const TrainingOptions &options) {
  manager.addPass(createInitializeParameters(options.initialization));
  // Only weights that have been simplified to contractions get adapters.
  manager.addPass(createAddAdapters());
  manager.addPass(createSetRanks(options.sharding)); // Decides the number of micro-steps.
  manager.addPass(createAttachLoss(options.loss));
  manager.addNestedPass<func::FuncOp>(createSelectMode());
  // These passes leave one read per parameter and no dead operations to differentiate.
  buildSimplifyPipeline(manager);
  manager.addPass(createScaleLoss(options.lossScaling)); // Scales the seed of the backward pass.
  manager.addPass(createAutodiff());
  // This pass follows autodiff, since gradients are defined for the larger operations.
  manager.addPass(createDecompose());
  manager.addPass(createNarrowStorage(options.precision));
  // This pass follows mtc-narrow-storage, which would otherwise change the type of the sums.
  manager.addPass(createStoreGradients(options.gradientStorage));
  // This pass follows autodiff, so that it covers the reads of the backward pass, and precedes the
  // pass that adds working copies.
  manager.addPass(createStoreFrozen(options.frozenStorage));
  manager.addPass(createKeepWorkingCopies());
  manager.addPass(createPadAxes({/*parts=*/0, options.sharding.tensorSeed}));
  manager.addPass(createSplitAxes({/*ranks=*/0, /*chunks=*/0, options.sharding.tensorSeed}));
  // No other pass sees partial values.
  manager.addNestedPass<func::FuncOp>(createExchangePartials());
}

void mtc::buildUpdatePipeline(OpPassManager &manager, const TrainingOptions &options) {
  manager.addPass(createOptimizer(options.optimizer));
  manager.addPass(createQuantizeOptimizerState());
  manager.addPass(createShard());
  buildSimplifyPipeline(manager);
  // This pass follows simplification, which removes movements between contractions and exchanges.
  manager.addPass(createTileExchanges({options.sharding.tensorTiles.value_or(0)}));
  // This pass follows simplification, so that folded indices are not checked.
  manager.addPass(createFindIndexRanges());
  manager.addPass(createReachStage({Stage::Training}));
}

void mtc::buildTrainingPipeline(OpPassManager &manager, const TrainingOptions &options) {
  buildGradientsOfTraining(manager, options);
  manager.addPass(createCutStages()); // Of one stage.
  buildUpdatePipeline(manager, options);
}

void mtc::buildGradientPipeline(OpPassManager &manager, const GradientPipelineOptions &options) {
  manager.addPass(createAttachLoss(options.loss));
  manager.addPass(createDisableDropout()); // While both modes exist.
  manager.addNestedPass<func::FuncOp>(createSelectMode());
  manager.addPass(createDifferentiateInputs({options.inputs}));
  buildSimplifyPipeline(manager);
  manager.addPass(createAutodiff());
  manager.addPass(createDecompose({/*libraryCalls=*/true, options.keep}));
  buildSimplifyPipeline(manager);
}

static void buildKernels(OpPassManager &manager, PassFilter takes) {
  // This pass follows the choice of the batch axis, because inputs that only outputs use may have
  // it too.
  manager.addPass(createEraseUnreadInputs());
  addOptional(manager, createFuseUpdate(), takes);
  OpPassManager &functions = manager.nest<func::FuncOp>();
  addOptional(functions, createPadContractions(), takes);
  addOptional(functions, createCompactScatter(), takes);
  addOptional(functions, createRecomputeElementwise(), takes);
  functions.addPass(createPrepareCalls()); // Its transpositions become kernels, too.
  functions.addPass(createFormKernels());
  addOptional(functions, createFuseKernels(), takes);
  addOptional(functions, createComputeInUsers(), takes);
  functions.addPass(createMergeEqual()); // Each operand of a sum is loaded once.
  addOptional(functions, createFuseEpilogues(), takes);
  addOptional(functions, createFuseActivations(), takes);
  addOptional(functions, createFuseColumnSums(), takes);
  // This pass follows mtc-fuse-column-sums and handles the remaining sums.
  addOptional(functions, createFuseBiasGradients(), takes);
  // Merges equal loads that fusion brought together, and erases dead views.
  buildSimplifyPipeline(manager);
  OpPassManager &simplified = manager.nest<func::FuncOp>();
  simplified.addPass(createCopyPassedStates());
  addOptional(simplified, createChooseAlgorithms(), takes);
  manager.addPass(createFixSumOrder()); // After fusion, which creates kernels.
  manager.addPass(createOutlineConstants());
  manager.addPass(createReachStage({Stage::Kernels}));
}

static void buildAllocation(OpPassManager &manager, const MemoryOptions &options,
                            PassFilter takes) {
  manager.addPass(createOrderMicroSteps());
  // Explicit choices are applied first, so that the search plans with the freed memory.
  const OffloadPassOptions offload{options.fit.offload, options.fit.memory};
  manager.addPass(createOffloadVariables(offload));
  addOptional(manager, createReorder(), takes);
  manager.addPass(createOrderMicroSteps()); // The passes before have moved operations.
  // Techniques reduce only the memory that reordering cannot save.
  manager.addPass(createOffloadActivations(offload));
  manager.addPass(createTile(options.fit.tile));
  manager.addPass(createRecompute(options.fit.recompute));
  manager.addPass(createFit(options.fit));
  // The search has decided which values the backward part of a micro-step reads.
  manager.addPass(createSplitMicroSteps());
  // These passes follow the search, which inserts and repeats operations.
  addOptional(manager, createOverlapExchanges({options.fit.memory.value_or(0)}), takes);
  addOptional(manager, createReuseFetches(), takes);
  manager.addPass(createAllocate(options.allocate));
  addOptional(manager, createOverlapCopies(), takes);
  manager.addPass(createReachStage({Stage::Allocated}));
}

void mtc::buildForwardPipeline(OpPassManager &manager, const PassSelection &selection) {
  buildForward(manager, [&](const Pass &pass) { return !selection.skips(pass.getArgument()); });
}

void mtc::buildKernelPipeline(OpPassManager &manager, const PassSelection &selection) {
  buildKernels(manager, [&](const Pass &pass) { return !selection.skips(pass.getArgument()); });
}

void mtc::buildAllocationPipeline(OpPassManager &manager, const MemoryOptions &options) {
  buildAllocation(manager, options,
                  [&](const Pass &pass) { return !options.passes.skips(pass.getArgument()); });
}

static std::vector<OptionalPass> collectOptionalPasses() {
  std::vector<OptionalPass> passes;
  auto collect = [&](void (*build)(OpPassManager &, PassFilter), Stage stage) {
    OpPassManager manager(ModuleOp::getOperationName());
    build(manager, [&](const Pass &pass) {
      passes.push_back({pass.getArgument().str(), pass.getDescription().str(), stage});
      return true;
    });
  };
  collect(buildForward, Stage::Forward);
  collect(buildKernels, Stage::Kernels);
  collect([](OpPassManager &manager, PassFilter takes) { buildAllocation(manager, {}, takes); },
          Stage::Allocated);
  return passes;
}

ArrayRef<OptionalPass> mtc::getOptionalPasses() {
  static const std::vector<OptionalPass> passes = collectOptionalPasses();
  return passes;
}

std::vector<OptionChoice> mtc::optionalPassChoices() {
  std::vector<OptionChoice> choices;
  for (const OptionalPass &pass : getOptionalPasses())
    choices.push_back({pass.name, pass.summary});
  return choices;
}

void mtc::registerMtcPipelines() {
  PassPipelineRegistration<> simplify("mtc-simplify", "canonicalize and merge equal operations",
                                      buildSimplifyPipeline);
  registerTablePipeline("mtc-forward-pipeline",
                        "convert the module to the forward function of training",
                        buildForwardPipeline);
  registerTablePipeline("mtc-training-pipeline",
                        "build the training program from the forward function",
                        buildTrainingPipeline);
  registerTablePipeline("mtc-kernel-pipeline", "form kernels", buildKernelPipeline);
  registerTablePipeline("mtc-allocation-pipeline", "allocate memory for kernels and calls",
                        buildAllocationPipeline);
}
