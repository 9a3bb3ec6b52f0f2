//===- Compilation.cpp - Compilation of a model through all stages ----------------------------===//

#include "driver/Compilation.h"
#include "driver/ProgressLine.h"
#include "driver/StageText.h"

#include "codegen/Codegen.h"
#include "frontend/onnx/Dimensions.h"
#include "frontend/onnx/batching/Passes.h"
#include "frontend/onnx/convert/Passes.h"
#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/exporters/Passes.h"
#include "frontend/onnx/inference/Passes.h"
#include "frontend/onnx/parameters/FoldedNormalizations.h"
#include "frontend/onnx/parameters/FrozenModules.h"
#include "frontend/onnx/parameters/InferenceForms.h"
#include "frontend/onnx/parameters/InitializerUses.h"
#include "frontend/onnx/parameters/Passes.h"
#include "frontend/onnx/parameters/PossibleBuffers.h"
#include "frontend/onnx/parameters/StoppedGradients.h"
#include "frontend/onnx/reader/Import.h"
#include "ir/Mtc.h"
#include "ir/ReservedNames.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/Passes.h"
#include "passes/pipelines/Pipelines.h"
#include "support/compiler/WrittenByMtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Threading.h"

#include <set>

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

/// Size of a symbolic batch dimension that the user has not set.
static constexpr int64_t defaultBatch = 8;

Compilation::Compilation(Options given)
    : options(std::move(given)), outputs(options.force), dims(options.dims) {
  DialectRegistry registry;
  registry.insert<MtcDialect, onnx::OnnxDialect, func::FuncDialect>();
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
    FailureOr<TargetAttrInterface> found = findTarget(options.precision);
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
  if (model) {
    outputs.addInput("the model", model->file());
    for (llvm::sys::fs::UniqueID id : model->dataFiles())
      outputs.addInput("external data of the model", id);
  }
  if (!options.recipe.empty())
    outputs.addInput("the recipe", options.recipe);
  for (const std::string &file : options.scheduleFiles)
    outputs.addInput("the table of --schedule-table", file);
  for (const auto &[flag, file] : options.numberFiles)
    outputs.addInput("the value of --" + flag, file);
  for (const auto &[input, value] : binds)
    outputs.addInput("the value of --bind " + input, value);
}

/// Splits INPUT=VALUE. An input name may contain `=`, so the longest matching input name is used,
/// and the first `=` otherwise.
LogicalResult Compilation::splitBinds() {
  std::vector<onnx::ModelInput> inputs = onnx::modelInputs(*model);
  for (StringRef text : options.binds) {
    size_t end = text.find('=');
    for (const onnx::ModelInput &input : inputs)
      if (text.starts_with(input.name) && text.substr(input.name.size()).starts_with("=") &&
          input.name.size() > end)
        end = input.name.size();
    if (end == 0 || end == StringRef::npos || end + 1 == text.size())
      return emitError(UnknownLoc::get(context.get()))
             << "--bind " << text << ": expected INPUT=VALUE";
    binds.emplace_back(text.take_front(end), text.drop_front(end + 1));
  }
  return success();
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

/// Sets the size of open batch dimensions: dimensions that come first in an input and have a name
/// but no size.
void Compilation::chooseBatch() {
  for (const onnx::ModelInput &input : onnx::modelInputs(*model)) {
    if (input.dims.empty())
      continue;
    const std::string &name = input.dims.front();
    int64_t number;
    if (name.empty() || !StringRef(name).getAsInteger(10, number) || dims.contains(name) ||
        !onnx::isDimensionName(name))
      continue;
    dims[name] = defaultBatch;
    if (options.explainsDefaults)
      note(llvm::formatv("dimension '{0}': size {1} is assumed; use --dim {0}=N to set it", name,
                         defaultBatch));
  }
}

/// Reports sizes of dimensions that the model does not have.
void Compilation::checkDimensions(Problems &problems) {
  std::set<std::string> names;
  for (const onnx::ModelInput &input : onnx::modelInputs(*model))
    for (const std::string &dim : input.dims)
      for (std::string &name : onnx::dimensionNames(dim))
        if (!llvm::isDigit(name.empty() ? '0' : name.front()))
          names.insert(std::move(name));
  for (const auto &entry : options.dims)
    if (!names.contains(entry.first().str()))
      problems.add("--dim " + entry.first() + "=" + Twine(entry.second) +
                   ": no input has this dimension" +
                   (names.empty() ? "; all dimensions are fixed"
                                  : "; the dimensions are " + llvm::join(names, ", ")));
}

LogicalResult Compilation::import() {
  if (module)
    return success();
  ProgressLine line("reading the model");
  if (failed(isStageText(options.model) ? readText() : importModel()))
    return failure();
  first = module->clone();
  return success();
}

/// Records the passes' results for messages, for `mtc inspect` and for the program's export.
void Compilation::describeParameters(ModuleOp imported) {
  auto graph = *imported.getOps<onnx::GraphOp>().begin();
  llvm::StringMap<onnx::InitializerClass> classes = onnx::chosenClasses(graph);
  for (onnx::InitializerOp initializer : onnx::trainableInitializers(graph)) {
    parameters.initializers.push_back(
        {initializer.getName().str(),
         llvm::to_vector(cast<RankedTensorType>(initializer.getType()).getShape()),
         classes[initializer.getName()]});
    if (ArrayAttr images = initializer.getFileImagesAttr())
      for (auto image : images.getAsRange<TensorImageAttr>())
        parameters.ties.push_back(
            {initializer.getName().str(), image.getName().str(), image.isWhole()});
  }
  parameters.added = onnx::findAddedInitializers(graph);
  parameters.training = onnx::summarizeTraining(graph, classes);
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

void Compilation::warnOfInferenceForms(onnx::GraphOp graph) {
  std::string batchNorm = options.batchNorm
                              ? onnx::unusedModeWarning(graph, *options.batchNorm)
                              : onnx::batchNormWarning(graph, onnx::chosenClasses(graph));
  for (const std::string &text : {batchNorm, onnx::dropoutWarning(graph),
                                  onnx::stoppedGradientsWarning(graph, onnx::chosenClasses(graph))})
    if (!text.empty())
      warn(text);
  if (options.batchNorm.value_or(BatchNormMode::AsExported) == BatchNormMode::AsExported)
    for (const std::string &text : onnx::runningVarianceNotes(graph))
      note(text);
}

/// Returns the maximum number of iterations of loops that are unrolled. Matrices in other loops get
/// no adapters, and are not compressed.
static int64_t unrollLimit(const Options &options) {
  const bool changesMatrices =
      !options.lora.empty() || options.training.frozenStorage.bits != FrozenStorageOptions().bits;
  return changesMatrices ? INT64_MAX : options.unroll;
}

/// Adds the passes that classify the initializers; `areNamed` as parameters that flags can name.
void Compilation::buildParameterPasses(OpPassManager &manager, bool areNamed) const {
  manager.addNestedPass<onnx::GraphOp>(onnx::createExpandControlFlowPass({unrollLimit(options)}));
  onnx::ParameterPatterns patterns{options.train, options.freeze, !options.lora.empty()};
  onnx::ParameterChoices choices;
  choices.merged = options.sharedInitializers;
  if (areNamed)
    choices = {options.sharedInitializers, options.tie, options.untie, patterns};
  onnx::buildParametersPipeline(manager, choices);
}

void Compilation::buildInferencePasses(OpPassManager &manager) const {
  manager.addNestedPass<onnx::GraphOp>(onnx::createFoldInitializersPass());
  manager.addNestedPass<onnx::GraphOp>(onnx::createInferAndFoldPass({unrollLimit(options)}));
  manager.addNestedPass<onnx::GraphOp>(onnx::createFormDropoutPass());
}

LogicalResult Compilation::importModel() {
  if (failed(chooseTarget()))
    return failure();
  Problems problems;
  model = onnx::Model::read(options.model, problems);
  if (!model)
    return report(problems);
  if (failed(splitBinds()))
    return failure();
  protectInputs();
  prepareReports();
  checkDimensions(problems);
  chooseBatch();
  module =
      onnx::importModel(*model, *context, {dims, binds, options.training.loss.output}, problems);
  bool isWhole = succeeded(report(problems));
  if (isWhole) {
    (*module)->setAttr(targetAttribute, targetAttr);
    describeProgram();
  }
  auto graph = *module->getOps<onnx::GraphOp>().begin();
  // A broken graph may have no nodes, and then the names of its parameters in the module are
  // unknown.
  bool areNamed = isWhole || !graph.getOps<onnx::NodeOp>().empty();
  auto choose = [&](OpPassManager &manager) { buildParameterPasses(manager, areNamed); };
  LogicalResult chosen = isWhole ? run(choose) : runQuietly(*module, choose);
  describeParameters(*module);
  if (!isWhole || failed(chosen))
    return failure();
  const llvm::StringMap<onnx::InitializerClass> classes = onnx::chosenClasses(graph);
  for (const std::string &text : onnx::normalizationWarnings(graph, classes))
    warn(text);
  for (const std::string &text : onnx::possibleBufferWarnings(graph, classes))
    warn(text);
  for (const std::string &text : parameters.training.notes())
    note(text);
  for (const std::string &text : parameters.training.warnings())
    warn(text);
  warnOfInferenceForms(graph);
  bool isMeant = !options.train.empty() || !options.freeze.empty() || !options.lora.empty();
  if (!isMeant && parameters.training.trainsLessThanHalf())
    return emitError(UnknownLoc::get(context.get()), parameters.training.refusal());
  const std::string frozenModules = isMeant ? "" : onnx::frozenModulesNote(graph, classes);
  if (failed(run([&](OpPassManager &manager) { buildInferencePasses(manager); })))
    return failure();
  parameters.replaced = onnx::findReplacedNodes(graph);
  if (std::string text = onnx::randomWarning(graph); !text.empty())
    warn(text);
  if (!frozenModules.empty() && computesOwnLoss(graph))
    note(frozenModules);
  return success();
}

bool Compilation::computesOwnLoss(onnx::GraphOp graph) const {
  const LossOptions &loss = options.training.loss;
  if (!loss.loss.empty())
    return loss.loss == "output";
  return llvm::any_of(graph.getFunctionType().getResults(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1;
  });
}

LogicalResult Compilation::run(llvm::function_ref<void(OpPassManager &)> build) {
  PassManager manager(context.get());
  if (irPrinter) {
    context->disableMultithreading();
    irPrinter->attach(manager);
  }
  if (reproducerTarget)
    writeReproducerOnFailure(manager, *reproducerTarget);
  build(manager);
  return runAndVerify(manager, *module, /*verifiesEachPass=*/irPrinter || reproducerTarget);
}

/// Adds the passes that convert a model to the `mtc` dialect.
static void buildConversion(OpPassManager &manager, const Options &options) {
  mtc::onnx::buildExportersPipeline(manager);
  manager.addPass(mtc::onnx::createConvertOnnxToMtcPass(
      {options.passes.skips("mtc-recognize-attention"), options.batchNorm.value_or(BatchNormMode()),
       std::max<int64_t>(options.training.sharding.ranks, 1)}));
}

/// Adds the passes that lead from the previous stage to `stage`; to Stage::Forward, those after the
/// conversion.
static void buildStage(OpPassManager &manager, Stage stage, const Options &options) {
  switch (stage) {
  case Stage::Onnx:
    return; // Initial stage of a compilation.
  case Stage::Forward:
    return buildForwardPipeline(manager, options.passes);
  case Stage::Training:
    buildTrainingPipeline(manager, options.training);
    manager.addPass(mtc::onnx::createChooseBatchAxis({llvm::to_vector(options.batchInputs)}));
    return;
  case Stage::Kernels:
    return buildKernelPipeline(manager, options.passes);
  case Stage::Allocated:
    return buildAllocationPipeline(manager, options.getMemoryOptions());
  }
  llvm_unreachable("all stages are handled");
}

static Stage nextOf(Stage stage) { return static_cast<Stage>(static_cast<unsigned>(stage) + 1); }

/// Returns what the passes that lead to a stage do.
static StringRef activityOf(Stage stage) {
  switch (stage) {
  case Stage::Onnx:
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
    if (nextOf(reached) == Stage::Forward &&
        failed(run([&](OpPassManager &manager) { buildConversion(manager, options); })))
      return failure();
    if (failed(run([&](OpPassManager &manager) { buildStage(manager, nextOf(reached), options); })))
      return failure();
  }
  return success();
}

LogicalResult Compilation::differentiate(ArrayRef<std::string> keep) {
  ProgressLine line("building the gradient");
  return run([&](OpPassManager &manager) {
    buildGradientPipeline(manager, {options.training.loss, llvm::to_vector(options.inputGradients),
                                    llvm::to_vector(keep)});
  });
}

const BatchDimension *Compilation::getBatch() {
  // The first symbolic dimension that is leading in an input.
  if (model && !batch)
    for (const mtc::onnx::ModelInput &input : mtc::onnx::modelInputs(*model))
      if (!input.dims.empty() && dims.contains(input.dims.front())) {
        batch = {input.dims.front(), dims.lookup(input.dims.front())};
        break;
      }
  return batch ? &*batch : nullptr;
}

FailureOr<OwningOpRef<ModuleOp>> Compilation::importAgain(const PlanSettings &settings) {
  llvm::StringMap<int64_t> sizes = dims;
  for (const auto &entry : settings.dims)
    sizes[entry.first()] = entry.second;
  if (sizes == dims)
    return OwningOpRef<ModuleOp>(first->clone());
  Problems problems;
  OwningOpRef<ModuleOp> again =
      onnx::importModel(*model, *context, {sizes, binds, options.training.loss.output}, problems);
  if (!problems.empty())
    return failure();
  (*again)->setAttr(targetAttribute, targetAttr);
  if (failed(runQuietly(*again, [&](OpPassManager &manager) {
        buildParameterPasses(manager, /*areNamed=*/true);
        buildInferencePasses(manager);
      })))
    return failure();
  return again;
}

LogicalResult Compilation::lowerAgain(ModuleOp other, Stage stage, const PlanSettings &settings) {
  if (stage == Stage::Forward) {
    FailureOr<TargetAttrInterface> found = findTarget(settings.precision);
    if (failed(found))
      return failure();
    other->setAttr(targetAttribute, *found);
  }
  Options all = options;
  static_cast<PlanSettings &>(all) = settings;
  PassManager manager(context.get());
  if (stage == Stage::Forward)
    buildConversion(manager, all);
  buildStage(manager, stage, all);
#ifdef NDEBUG
  // A search makes many such modules, of which the chosen one is verified.
  if (stage >= Stage::Kernels) {
    manager.enableVerifier(false);
    return manager.run(other);
  }
#endif
  return runAndVerify(manager, other, /*verifiesEachPass=*/false);
}

LogicalResult Compilation::adopt(const PlanSettings &settings, OwningOpRef<ModuleOp> lowered) {
  for (const auto &entry : settings.dims)
    dims[entry.first()] = entry.second;
  static_cast<PlanSettings &>(options) = settings;
  module = std::move(lowered);
  targetAttr = (*module)->getAttrOfType<TargetAttrInterface>(targetAttribute);
  target = llvm::cantFail(Target::create(targetAttr)); // It has been created before.
  return verify(*module);
}
