//===- CompilationImport.cpp - Import of a model ----------------------------------------------===//

#include "driver/Compilation.h"
#include "driver/Frontends.h"
#include "driver/ShapeSizes.h"

#include "frontend/Dimensions.h"
#include "ir/interfaces/TargetInfo.h"
#include "passes/planning/ProgramSettings.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

/// Size of a symbolic batch dimension that the user has not set.
static constexpr int64_t defaultBatch = 8;

/// Splits INPUT=VALUE. An input name may contain `=`, so the longest matching input name is used,
/// and the first `=` otherwise.
LogicalResult Compilation::splitBinds() {
  const std::vector<ModelInput> inputs = model->getInputs();
  for (StringRef text : options.binds) {
    size_t end = text.find('=');
    for (const ModelInput &input : inputs)
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

/// Sets the size of open batch dimensions: dimensions that come first in an input and have a name
/// but no size.
void Compilation::chooseBatch() {
  for (const ModelInput &input : model->getInputs()) {
    if (input.dims.empty())
      continue;
    const std::string &name = input.dims.front();
    int64_t number;
    if (name.empty() || !StringRef(name).getAsInteger(10, number) || dims.contains(name) ||
        !isDimensionName(name))
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
  for (const ModelInput &input : model->getInputs())
    for (const std::string &dim : input.dims)
      for (std::string &name : dimensionNames(dim))
        if (!llvm::isDigit(name.empty() ? '0' : name.front()))
          names.insert(std::move(name));
  for (const auto &entry : options.plan.dims)
    if (!names.contains(entry.first().str()))
      problems.add("--dim " + entry.first() + "=" + Twine(entry.second) +
                   ": no input has this dimension" +
                   (names.empty() ? "; all dimensions are fixed"
                                  : "; the dimensions are " + llvm::join(names, ", ")));
}

/// Returns the maximum number of iterations of loops that are unrolled. Matrices in other loops get
/// no adapters, and are not compressed.
static int64_t unrollLimit(const Options &options) {
  const bool changesMatrices = !options.lora.empty() || options.plan.training.frozenStorage.bits !=
                                                            FrozenStorageOptions().bits;
  return changesMatrices ? INT64_MAX : options.unroll;
}

GraphSettings mtc::tool::graphSettings(const Options &options) {
  return {options.batchNorm,
          unrollLimit(options),
          options.plan.passes.skips("mtc-recognize-attention"),
          options.plan.training.sharding.getDataRanks(),
          options.dropout,
          !options.lora.empty(),
          !options.weights.empty()};
}

/// Returns whether the loss is an output of the graph, as far as known before its stage.
static bool computesOwnLoss(const LossOptions &loss, const SourceModel &model, ModuleOp module) {
  return loss.loss.empty() ? model.hasScalarResult(module) : loss.loss == "output";
}

/// Adds the passes that classify the initializers; `areNamed` as parameters that flags can name.
void Compilation::buildParameterPasses(OpPassManager &manager, bool areNamed) const {
  ParameterChoices choices;
  choices.merged = options.sharedInitializers;
  if (areNamed)
    choices = {options.sharedInitializers,
               options.tie,
               options.untie,
               {options.train, options.freeze, !options.lora.empty()}};
  getFrontend().buildParameterPasses(manager, choices, unrollLimit(options));
}

static void print(ArrayRef<ModelRemark> remarks) {
  for (const ModelRemark &remark : remarks)
    remark.isWarning ? warn(remark.text) : note(remark.text);
}

void Compilation::markModule(ModuleOp imported) {
  imported->setAttr(settingsAttribute, describeSettings(context.get()));
  if (!options.plan.shapes.empty())
    imported->setAttr(hasShapesAttribute, UnitAttr::get(context.get()));
}

LogicalResult Compilation::importModel() {
  if (failed(chooseTarget()))
    return failure();
  Problems problems;
  model = getFrontend().read(options.model, problems);
  if (!model)
    return report(problems);
  if (failed(splitBinds()))
    return failure();
  protectInputs();
  prepareReports();
  checkDimensions(problems);
  sizeBatches(model->getInputs(), options, problems);
  orderShapes(findBatchName(model->getInputs()), options.plan);
  for (const auto &entry : options.plan.dims)
    dims[entry.first()] = entry.second;
  chooseBatch();
  module = model->import(*context, {dims, binds, options.plan.training.loss.output}, problems);
  const bool isWhole = succeeded(report(problems));
  if (isWhole) {
    (*module)->setAttr(targetAttribute, targetAttr);
    markModule(*module);
    describeProgram();
  }
  const bool areNamed = isWhole || model->knowsModuleNames(*module);
  auto choose = [&](OpPassManager &manager) { buildParameterPasses(manager, areNamed); };
  const LogicalResult chosen = isWhole ? run(choose) : runQuietly(*module, choose);
  parameters = model->describeParameters(*module);
  return success(isWhole && succeeded(chosen) && succeeded(finishImport()));
}

/// Checks the parameters, and infers the types of the graph.
LogicalResult Compilation::finishImport() {
  const GraphSettings settings = graphSettings(options);
  print(model->checkParameters(*module, parameters, settings));
  const bool isMeant = !options.train.empty() || !options.freeze.empty() || !options.lora.empty();
  if (!isMeant && parameters.training.trainsLessThanHalf())
    return emitError(UnknownLoc::get(context.get()), parameters.training.refusal());
  const std::string frozenModules = isMeant ? "" : model->describeFrozenModules(*module);
  if (failed(run(
          [&](OpPassManager &manager) { getFrontend().buildInferencePasses(manager, settings); })))
    return failure();
  print(model->checkGraph(*module));
  if (!frozenModules.empty() && computesOwnLoss(options.plan.training.loss, *model, *module))
    note(frozenModules);
  return success();
}

/// Imports the graph with the sizes of each further shape.
LogicalResult Compilation::importShapes() {
  for (const llvm::StringMap<int64_t> &sizes : options.plan.shapes) {
    PlanSettings settings = options.plan;
    for (const auto &entry : sizes)
      settings.dims[entry.first()] = entry.second;
    if (!model)
      return emitError(UnknownLoc::get(context.get()))
             << "--dim with a list of sizes: " << options.model
             << " is the text of a stage, whose sizes are fixed; compile the model itself";
    FailureOr<OwningOpRef<ModuleOp>> graph = importAgain(settings);
    if (failed(graph)) {
      std::string text;
      for (const auto &entry : sizes)
        text +=
            (text.empty() ? "" : ", ") + entry.first().str() + " = " + std::to_string(entry.second);
      return emitError(UnknownLoc::get(context.get()))
             << "the model cannot be compiled with " << text
             << "; compile it with these sizes alone to see why";
    }
    shapes.push_back(std::move(*graph));
  }
  return success();
}

const BatchDimension *Compilation::getBatch() {
  // The first symbolic dimension that is leading in an input.
  if (model && !batch)
    for (const ModelInput &input : model->getInputs())
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
      model->import(*context, {sizes, binds, options.plan.training.loss.output}, problems);
  if (!problems.empty())
    return failure();
  (*again)->setAttr(targetAttribute, targetAttr);
  markModule(*again);
  if (failed(runQuietly(*again, [&](OpPassManager &manager) {
        buildParameterPasses(manager, /*areNamed=*/true);
        getFrontend().buildInferencePasses(manager, graphSettings(options));
      })))
    return failure();
  return again;
}
