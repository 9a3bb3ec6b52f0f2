//===- Pipelines.cpp - The order of the passes ------------------------------------------------===//

#include "passes/pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mtc;

void mtc::buildSimplifyPipeline(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

/// Whether a pipeline has an optional pass.
using PassFilter = llvm::function_ref<bool(const Pass &)>;

static void addOptional(OpPassManager &manager, std::unique_ptr<Pass> pass, PassFilter takes) {
  if (takes(*pass))
    manager.addPass(std::move(pass));
}

static void buildForward(OpPassManager &manager, PassFilter takes) {
  manager.addPass(createWidenElements());
  // Before convolutions that are contractions become such.
  addOptional(manager.nest<func::FuncOp>(), createKeepChannelsLast(), takes);
  buildSimplifyPipeline(manager); // What is recognized is recognized in canonical form.
  addOptional(manager.nest<func::FuncOp>(), createRecognizeAttention(), takes);
  buildSimplifyPipeline(manager);
  manager.addPass(createReachStage({Stage::Forward}));
}

void mtc::buildTrainingPipeline(OpPassManager &manager, const TrainingOptions &options) {
  manager.addPass(createInitializeParameters(options.initialization));
  manager.addPass(createAddAdapters()); // Of weights that are simplified to contractions alone.
  manager.addPass(createAttachLoss(options.loss));
  manager.addNestedPass<func::FuncOp>(createSelectMode());
  // One read for each parameter, no backward pass of dead operations.
  buildSimplifyPipeline(manager);
  manager.addPass(createScaleLoss(options.lossScaling)); // Where gradients start from.
  manager.addPass(createAutodiff());
  // Not before autodiff: larger operations have gradients.
  manager.addPass(createDecompose());
  manager.addPass(createNarrowStorage(options.precision));
  // Of what the backward pass reads too, and before what is stored gets copies.
  manager.addPass(createStoreFrozen(options.frozenStorage));
  manager.addPass(createKeepWorkingCopies());
  manager.addPass(createOptimizer(options.optimizer));
  manager.addPass(createQuantizeOptimizerState());
  buildSimplifyPipeline(manager);
  manager.addPass(createFindIndexRanges()); // Of what is left.
  manager.addPass(createReachStage({Stage::Training}));
}

static void buildKernels(OpPassManager &manager, PassFilter takes) {
  addOptional(manager, createFuseUpdate(), takes);
  OpPassManager &functions = manager.nest<func::FuncOp>();
  addOptional(functions, createCompactScatter(), takes);
  addOptional(functions, createRecomputeElementwise(), takes);
  functions.addPass(createPrepareCalls()); // Its transpositions become kernels too.
  functions.addPass(createFormKernels());
  addOptional(functions, createFuseKernels(), takes);
  addOptional(functions, createComputeInReaders(), takes);
  functions.addPass(createCSEPass()); // A sum's term is loaded once.
  addOptional(functions, createFuseEpilogues(), takes);
  addOptional(functions, createFuseActivations(), takes);
  addOptional(functions, createFuseColumnSums(), takes);
  addOptional(functions, createFuseBiasGradients(), takes); // Of the sums that are left.
  // Equal loads that fusion brought together; views without readers.
  buildSimplifyPipeline(manager);
  manager.addPass(createOutlineConstants());
  manager.addPass(createReachStage({Stage::Kernels}));
}

static void buildAllocation(OpPassManager &manager, const MemoryOptions &options,
                            PassFilter takes) {
  // What is chosen frees memory of what is planned behind it.
  const bool isOffloadChosen = !options.offload.isAutomatic();
  if (isOffloadChosen)
    manager.addPass(createOffloadVariables(options.offload));
  addOptional(manager, createReorder(), takes);
  if (isOffloadChosen)
    manager.addPass(createOffloadActivations(options.offload));
  // What no better order avoids.
  manager.addPass(createTile(options.fit.tile));
  manager.addPass(createRecompute(options.fit.recompute));
  manager.addPass(createFit(options.fit));
  if (!isOffloadChosen) { // What does not fit all the same.
    manager.addPass(createOffloadVariables(options.offload));
    manager.addPass(createOffloadActivations(options.offload));
  }
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

std::vector<OptionalPass> mtc::getOptionalPasses() {
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
                        "from the converted module to what training is made of",
                        buildForwardPipeline);
  registerTablePipeline("mtc-training-pipeline",
                        "from the forward function to the training program", buildTrainingPipeline);
  registerTablePipeline("mtc-kernel-pipeline", "from values to kernels", buildKernelPipeline);
  registerTablePipeline("mtc-allocation-pipeline", "from kernels to slices of memory",
                        buildAllocationPipeline);
}
