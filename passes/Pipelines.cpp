//===- Pipelines.cpp - The order of the passes ------------------------------------------------===//

#include "passes/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mtc;

void mtc::buildSimplifyPipeline(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

ArrayRef<std::pair<StringRef, Stage>> mtc::getOptionalPasses() {
  static const std::pair<StringRef, Stage> passes[] = {
      {"mtc-recognize-attention", Stage::Forward}, {"mtc-fuse-update", Stage::Kernels},
      {"mtc-compact-scatter", Stage::Kernels},     {"mtc-recompute-elementwise", Stage::Kernels},
      {"mtc-fuse-kernels", Stage::Kernels},        {"mtc-fuse-epilogues", Stage::Kernels},
      {"mtc-fuse-activations", Stage::Kernels},    {"mtc-fuse-column-sums", Stage::Kernels},
      {"mtc-fuse-bias-gradients", Stage::Kernels}};
  return passes;
}

/// Adds an optional pass that is not skipped.
static void addOptional(OpPassManager &manager, std::unique_ptr<Pass> pass,
                        ArrayRef<std::string> skipped) {
  assert(llvm::is_contained(llvm::make_first_range(getOptionalPasses()), pass->getArgument()));
  if (!llvm::is_contained(skipped, pass->getArgument()))
    manager.addPass(std::move(pass));
}

void mtc::buildForwardPipeline(OpPassManager &manager, ArrayRef<std::string> skipped) {
  buildSimplifyPipeline(manager); // What is recognized is recognized in canonical form.
  addOptional(manager.nest<func::FuncOp>(), createRecognizeAttention(), skipped);
  buildSimplifyPipeline(manager);
  manager.addPass(createReachStage({Stage::Forward}));
}

void mtc::buildTrainingPipeline(OpPassManager &manager, const TrainingOptions &options) {
  manager.addPass(createAttachLoss(options.loss));
  // One read for each parameter, no backward pass of dead operations.
  buildSimplifyPipeline(manager);
  manager.addPass(createAutodiff(options.autodiff));
  // Not before autodiff: larger operations have gradients.
  manager.addPass(createDecompose());
  manager.addPass(createOptimizer(options.optimizer));
  buildSimplifyPipeline(manager);
  manager.addPass(createFindIndexRanges()); // Of what is left.
  manager.addPass(createReachStage({Stage::Training}));
}

void mtc::buildKernelPipeline(OpPassManager &manager, ArrayRef<std::string> skipped) {
  addOptional(manager, createFuseUpdate(), skipped);
  OpPassManager &functions = manager.nest<func::FuncOp>();
  addOptional(functions, createCompactScatter(), skipped);
  addOptional(functions, createRecomputeElementwise(), skipped);
  functions.addPass(createPrepareCalls()); // Its transpositions become kernels too.
  functions.addPass(createFormKernels());
  addOptional(functions, createFuseKernels(), skipped);
  functions.addPass(createCSEPass()); // A sum's term is loaded once.
  addOptional(functions, createFuseEpilogues(), skipped);
  addOptional(functions, createFuseActivations(), skipped);
  addOptional(functions, createFuseColumnSums(), skipped);
  addOptional(functions, createFuseBiasGradients(), skipped); // Of the sums that are left.
  // Equal loads that fusion brought together; views without readers.
  buildSimplifyPipeline(manager);
  manager.addPass(createOutlineConstants());
  manager.addPass(createReachStage({Stage::Kernels}));
}

void mtc::buildPlacementPipeline(OpPassManager &manager) {
  manager.addPass(createPlace());
  manager.addPass(createReachStage({Stage::Placed}));
}

namespace {

/// The passes' options under the pipeline's name.
struct TrainingPipelineOptions : PassPipelineOptions<TrainingPipelineOptions> {
  Option<std::string> loss{*this, "loss", llvm::cl::desc("see mtc-attach-loss")};
  Option<std::string> output{*this, "output", llvm::cl::desc("see mtc-attach-loss")};
  Option<std::string> labels{*this, "labels", llvm::cl::desc("see mtc-attach-loss")};
  Option<bool> accumulate{*this, "accumulate", llvm::cl::desc("see mtc-autodiff")};
  Option<std::string> optimizer{*this, "optimizer", llvm::cl::desc("see mtc-optimizer"),
                                llvm::cl::init("adamw")};
  Option<std::optional<double>> lr{*this, "lr", llvm::cl::desc("see mtc-optimizer")};
  Option<std::optional<double>> weightDecay{*this, "weight-decay",
                                            llvm::cl::desc("see mtc-optimizer")};
  Option<std::optional<double>> beta1{*this, "beta1", llvm::cl::desc("see mtc-optimizer")};
  Option<std::optional<double>> beta2{*this, "beta2", llvm::cl::desc("see mtc-optimizer")};
  Option<std::optional<double>> eps{*this, "eps", llvm::cl::desc("see mtc-optimizer")};
  Option<std::optional<double>> momentum{*this, "momentum", llvm::cl::desc("see mtc-optimizer")};
  Option<std::optional<double>> clipNorm{*this, "clip-norm", llvm::cl::desc("see mtc-optimizer")};
  Option<ScheduleKind> schedule{*this, "schedule", llvm::cl::desc("see mtc-optimizer"),
                                llvm::cl::init(ScheduleKind::Constant),
                                llvm::cl::values(clEnumValN(ScheduleKind::Constant, "constant", ""),
                                                 clEnumValN(ScheduleKind::Linear, "linear", ""),
                                                 clEnumValN(ScheduleKind::Cosine, "cosine", ""))};
  Option<int64_t> warmup{*this, "warmup", llvm::cl::desc("see mtc-optimizer"), llvm::cl::init(0)};
  Option<bool> noDecay1d{*this, "no-decay-1d", llvm::cl::desc("see mtc-optimizer")};

  TrainingOptions resolve() const {
    TrainingOptions options;
    options.loss = {loss, output, labels};
    options.autodiff.accumulate = accumulate;
    options.optimizer = {optimizer, lr,       weightDecay, beta1,  beta2,    eps,
                         momentum,  clipNorm, schedule,    warmup, noDecay1d};
    return options;
  }
};

} // namespace

void mtc::registerMtcPipelines() {
  PassPipelineRegistration<> simplify("mtc-simplify", "canonicalize and merge equal operations",
                                      buildSimplifyPipeline);
  PassPipelineRegistration<> forward("mtc-forward-pipeline",
                                     "from the converted module to what training is made of",
                                     [](OpPassManager &manager) { buildForwardPipeline(manager); });
  PassPipelineRegistration<> kernels("mtc-kernel-pipeline", "from values to kernels",
                                     [](OpPassManager &manager) { buildKernelPipeline(manager); });
  PassPipelineRegistration<> placement("mtc-placement-pipeline", "from kernels to places in memory",
                                       buildPlacementPipeline);
  PassPipelineRegistration<TrainingPipelineOptions> training(
      "mtc-training-pipeline", "from the forward function to the training program",
      [](OpPassManager &manager, const TrainingPipelineOptions &options) {
        buildTrainingPipeline(manager, options.resolve());
      });
}
