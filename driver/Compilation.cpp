//===- Compilation.cpp - Compilation of a model through all stages ----------------------------===//

#include "driver/Compilation.h"
#include "driver/Frontends.h"
#include "driver/ProgressLine.h"
#include "driver/StageText.h"

#include "codegen/Codegen.h"
#include "frontend/batching/Passes.h"
#include "ir/Mtc.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/Passes.h"
#include "passes/pipeline/Stages.h"
#include "passes/pipelines/Pipelines.h"
#include "passes/program/Shapes.h"
#include "support/compiler/WrittenByMtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

Compilation::Compilation(Options given)
    : options(std::move(given)), outputs(options.force), dims(options.plan.dims) {
  DialectRegistry registry;
  registry.insert<MtcDialect, func::FuncDialect>();
  getFrontend().registerDialects(registry);
  registerCodegenDialects(registry);
  context = std::make_unique<MLIRContext>(registry);
  context->loadAllAvailableDialects();
  printer = std::make_unique<DiagnosticPrinter>(*context, isStageText(options.model));
}

/// Returns the target of the flags, with a precision.
FailureOr<TargetAttrInterface> Compilation::findTarget(Precision precision) {
  TargetFlags flags;
  flags.target = options.target;
  flags.emulate = options.emulate;
  flags.precision = precision;
  if (options.noCudnn)
    flags.without.emplace_back("cudnn");
  if (options.noOnednn)
    flags.without.emplace_back("onednn");
  flags.isStatic = options.isStatic;
  flags.rates = options.costModel;
  flags.tune = options.tune;
  if (!options.cpu.empty())
    flags.cpu = options.cpu;
  flags.threads =
      options.threads ? options.threads : llvm::hardware_concurrency().compute_thread_count();
  llvm::Expected<TargetAttrInterface> parsed = Target::parse(*context, flags);
  if (!parsed)
    return emitError(UnknownLoc::get(context.get()), llvm::toString(parsed.takeError()));
  return *parsed;
}

/// Sets the target from the flags, or from a text.
LogicalResult Compilation::chooseTarget(TargetAttrInterface named) {
  if (!named) {
    FailureOr<TargetAttrInterface> found = findTarget(options.plan.precision);
    if (failed(found))
      return failure();
    named = *found;
  }
  llvm::Expected<std::unique_ptr<Target>> made = Target::create(named);
  if (!made)
    return emitError(UnknownLoc::get(context.get()), llvm::toString(made.takeError()));
  target = std::move(*made);
  targetAttr = named;
  return success();
}

Compilation::~Compilation() = default;

LogicalResult Compilation::report(const Problems &problems) {
  for (const std::string &message : problems.get())
    emitError(UnknownLoc::get(context.get()), message);
  return success(problems.empty());
}

/// Prevents outputs from overwriting the inputs of the run.
void Compilation::protectInputs() {
  outputs.addInput("the model", options.model);
  if (model)
    for (auto [i, id] : llvm::enumerate(model->getFiles()))
      outputs.addInput(i == 0 ? "the model" : "external data of the model", id);
  if (!options.recipe.empty())
    outputs.addInput("the recipe", options.recipe);
  if (!options.weights.empty())
    outputs.addInput("the file of --weights", options.weights);
  for (const std::string &file : options.scheduleFiles)
    outputs.addInput("the table of --schedule-table", file);
  for (const auto &[flag, file] : options.numberFiles)
    outputs.addInput("the value of --" + flag, file);
  for (const auto &[input, value] : binds)
    outputs.addInput("the value of --bind " + input, value);
}

/// Checks the paths of `--remarks`, `--print-ir-after-all` and `--crash-reproducer` before any work
/// is done, and exits on an error. Resolving the path of the reproducer early avoids reporting an
/// unusable path only after a pass has failed.
void Compilation::prepareReports() {
  if (!options.irFolder.empty())
    irPrinter.emplace(options.irFolder, outputs);
  llvm::Error problems = llvm::Error::success();
  auto resolve = [&](StringRef flag, const std::string &path, std::optional<OutputTarget> &target) {
    if (path.empty())
      return;
    if (auto resolved = outputs.add(flag + " " + path, path, /*isStream=*/true))
      target = std::move(*resolved);
    else
      problems = llvm::joinErrors(std::move(problems), resolved.takeError());
  };
  resolve("--remarks", options.remarks, remarksTarget);
  resolve("--crash-reproducer", options.reproducer, reproducerTarget);
  if (reproducerTarget && reproducerTarget->isReplaced)
    problems =
        llvm::joinErrors(std::move(problems), OutputFile::create(*reproducerTarget).takeError());
  if (problems)
    fail(std::move(problems));
  if (remarksTarget)
    remarks.collectFrom(*context);
}

llvm::Error Compilation::addRemarks(std::vector<OutputFile> &files) {
  if (!remarksTarget)
    return llvm::Error::success();
  return addOutput(files, *remarksTarget, [&](llvm::raw_ostream &os) {
    os << textMark("#");
    remarks.print(os);
  });
}

int Compilation::writeRemarks() {
  std::vector<OutputFile> files;
  if (llvm::Error error = addRemarks(files))
    return mtc::tool::report(std::move(error));
  return mtc::tool::report(commit(files));
}

LogicalResult Compilation::import() {
  if (module)
    return success();
  ProgressLine line("reading the model");
  if (failed(isStageText(options.model) ? readText() : importModel()))
    return failure();
  first = module->clone();
  return importShapes();
}

/// Runs passes and verifies their result. Verification after each pass, which names the pass that
/// broke the module, takes a fifth of the time of a plan; builds with assertions do it.
static LogicalResult runAndVerify(PassManager &manager, ModuleOp module, bool verifiesEachPass) {
#ifndef NDEBUG
  verifiesEachPass = true;
#endif
  manager.enableVerifier(verifiesEachPass);
  return success(succeeded(manager.run(module)) && (verifiesEachPass || succeeded(verify(module))));
}

/// Runs passes and suppresses all diagnostics except errors.
LogicalResult Compilation::runQuietly(ModuleOp other,
                                      llvm::function_ref<void(OpPassManager &)> build) {
  ScopedDiagnosticHandler handler(context.get(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  PassManager manager(context.get());
  build(manager);
  return runAndVerify(manager, other, /*verifiesEachPass=*/false);
}

LogicalResult Compilation::run(ModuleOp on, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(context.get());
  if (irPrinter) {
    context->disableMultithreading();
    irPrinter->attach(manager);
  }
  if (reproducerTarget)
    writeReproducerOnFailure(manager, *reproducerTarget);
  build(manager);
  return runAndVerify(manager, on, /*verifiesEachPass=*/irPrinter || reproducerTarget);
}

static bool hasPipelineStages(const Options &options) {
  return options.plan.training.sharding.pipeline.value_or(1) > 1;
}

/// Adds the passes that lead from the previous stage to `stage`; to Stage::Forward, those after the
/// conversion. A program with pipeline stages is divided into a module for each of them on the way
/// to Stage::Training; `manager` is that of these modules then.
static void buildStage(OpPassManager &manager, Stage stage, const Options &options) {
  switch (stage) {
  case Stage::Imported:
    return; // Initial stage of a compilation.
  case Stage::Forward:
    return buildForwardPipeline(manager, options.plan.passes);
  case Stage::Training:
    if (hasPipelineStages(options))
      return buildUpdatePipeline(manager, options.plan.training);
    buildTrainingPipeline(manager, options.plan.training);
    manager.addPass(createChooseBatchAxis({llvm::to_vector(options.batchInputs)}));
    return;
  case Stage::Kernels:
    return buildKernelPipeline(manager, options.plan.passes);
  case Stage::Allocated:
    return buildAllocationPipeline(manager, options.plan.getMemoryOptions());
  }
  llvm_unreachable("all stages are handled");
}

/// Runs passes on a program.
using PassRunner =
    llvm::function_ref<LogicalResult(ModuleOp, llvm::function_ref<void(OpPassManager &)>)>;

/// Lowers a program from the previous stage to `stage`, like `buildStage`.
static LogicalResult lowerProgram(ModuleOp module, Stage stage, const Options &options,
                                  PassRunner run) {
  if (stage == Stage::Training && hasPipelineStages(options) &&
      failed(run(module, [&](OpPassManager &manager) {
        buildGradientsOfTraining(manager, options.plan.training);
        manager.addPass(createChooseBatchAxis({llvm::to_vector(options.batchInputs)}));
        manager.addPass(createCutStages());
      })))
    return failure();
  const SmallVector<ModuleOp> stages = stagesOf(module);
  for (ModuleOp each : stages)
    if (failed(run(each, [&](OpPassManager &manager) { buildStage(manager, stage, options); })))
      return failure();
  if (stages.front() == module)
    return success();
  if (stage == Stage::Training)
    shareScalars(stages);
  ProgramOp program = ProgramOp::find(module), ofStage = ProgramOp::find(stages.front());
  program.setStage(stage);
  program.setOptimizerAttr(ofStage.getOptimizerAttr());
  program.setScheduleAttr(ofStage.getScheduleAttr());
  return success();
}

static Stage nextOf(Stage stage) { return static_cast<Stage>(static_cast<unsigned>(stage) + 1); }

/// Returns what the passes that lead to a stage do.
static StringRef activityOf(Stage stage) {
  switch (stage) {
  case Stage::Imported:
    return "reading the model";
  case Stage::Forward:
    return "converting operators";
  case Stage::Training:
    return "building the training step";
  case Stage::Kernels:
    return "forming kernels";
  case Stage::Allocated:
    return "planning memory";
  }
  llvm_unreachable("all stages are handled");
}

LogicalResult Compilation::lower(Stage stage) {
  const Stage first = getProgram().getStage();
  ProgressLine line("lowering the model",
                    stage > first ? static_cast<size_t>(stage) - static_cast<size_t>(first) : 0);
  for (Stage reached = first; reached < stage; reached = nextOf(reached)) {
    line.next(activityOf(nextOf(reached)).str());
    // Verified before patterns rely on it.
    if (nextOf(reached) == Stage::Forward && failed(run(*module, [&](OpPassManager &manager) {
          getFrontend().buildConversion(manager, graphSettings(options));
        })))
      return failure();
    if (failed(lowerProgram(*module, nextOf(reached), options,
                            [&](ModuleOp on, llvm::function_ref<void(OpPassManager &)> build) {
                              return run(on, build);
                            })))
      return failure();
    if (nextOf(reached) == Stage::Training && failed(addShapes(*module, options.plan)))
      return failure();
  }
  return success();
}

/// Returns the sizes, among `all`, of the dimensions that differ between shapes.
static DictionaryAttr sizesOf(const llvm::StringMap<int64_t> &all, const PlanSettings &settings,
                              MLIRContext *context) {
  NamedAttrList sizes;
  for (StringRef name : settings.shapes.front().keys())
    sizes.set(name, Builder(context).getI64IntegerAttr(all.lookup(name)));
  return sizes.getDictionary(context);
}

/// Lowers the graphs of the further shapes to the training stage and adds their functions to the
/// program. Their remarks are those of the first shape.
LogicalResult Compilation::addShapes(ModuleOp program, const PlanSettings &settings) {
  if (shapes.empty())
    return success();
  Options all = options;
  all.plan = settings;
  std::vector<ProgramOfShape> others;
  for (auto [graph, sizes] : llvm::zip_equal(shapes, settings.shapes)) {
    OwningOpRef<ModuleOp> other = graph->clone();
    (*other)->setAttr(targetAttribute, program->getAttr(targetAttribute));
    if (failed(runQuietly(*other, [&](OpPassManager &manager) {
          getFrontend().buildConversion(manager, graphSettings(all));
          buildStage(manager, Stage::Forward, all);
          buildStage(manager, Stage::Training, all);
        })))
      return failure();
    others.push_back({std::move(other), sizesOf(sizes, settings, context.get())});
  }
  return mtc::addShapes(program, sizesOf(settings.dims, settings, context.get()), others);
}

LogicalResult Compilation::differentiate(ArrayRef<std::string> keep) {
  ProgressLine line("building the gradient");
  return run(*module, [&](OpPassManager &manager) {
    buildGradientPipeline(manager,
                          {options.plan.training.loss, llvm::to_vector(options.inputGradients),
                           llvm::to_vector(keep)});
  });
}

LogicalResult Compilation::lowerAgain(ModuleOp other, Stage stage, const PlanSettings &settings) {
  if (stage == Stage::Forward) {
    FailureOr<TargetAttrInterface> found = findTarget(settings.precision);
    if (failed(found))
      return failure();
    other->setAttr(targetAttribute, *found);
  }
  Options all = options;
  all.plan = settings;
  auto runPasses = [&](ModuleOp on,
                       llvm::function_ref<void(OpPassManager &)> build) -> LogicalResult {
    PassManager manager(context.get());
    if (stage == Stage::Forward)
      getFrontend().buildConversion(manager, graphSettings(all));
    build(manager);
#ifdef NDEBUG
    // A search makes many such modules, of which the chosen one is verified.
    if (stage >= Stage::Kernels) {
      manager.enableVerifier(false);
      return manager.run(on);
    }
#endif
    return runAndVerify(manager, on, /*verifiesEachPass=*/false);
  };
  if (failed(lowerProgram(other, stage, all, runPasses)))
    return failure();
  return stage == Stage::Training ? addShapes(other, settings) : success();
}

LogicalResult Compilation::adopt(const PlanSettings &settings, OwningOpRef<ModuleOp> lowered) {
  for (const auto &entry : settings.dims)
    dims[entry.first()] = entry.second;
  options.plan = settings;
  module = std::move(lowered);
  targetAttr = (*module)->getAttrOfType<TargetAttrInterface>(targetAttribute);
  target = llvm::cantFail(Target::create(targetAttr)); // It has been created before.
  return verify(*module);
}
