//===- Inspect.cpp - `mtc inspect` ------------------------------------------------------------===//

#include "Commands.h"
#include "ModelText.h"
#include "driver/Compilation.h"
#include "driver/Flags.h"
#include "driver/Report.h"
#include "driver/StageText.h"

#include "frontend/Dimensions.h"
#include "frontend/batching/BatchAxis.h"
#include "ir/ReservedNames.h"
#include "ir/attributes/DiscardableAttributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// Infers the batch inputs without knowledge of the loss; nullopt if they cannot be inferred.
std::optional<BatchAxis> guessBatchAxis(Compilation &compilation, const Options &options) {
  std::vector<StepInput> inputs;
  for (const ModelInput &input : compilation.getModel()->getInputs()) {
    if (llvm::is_contained(llvm::make_first_range(compilation.getBinds()), input.name))
      continue;
    StepInput &entry = inputs.emplace_back();
    entry.name = input.name;
    for (const std::string &dim : input.dims) {
      std::optional<int64_t> extent = evaluateDimension(dim, compilation.getDims());
      if (!extent)
        return std::nullopt;
      entry.shape.push_back(*extent);
    }
    entry.firstDim = input.dims.empty() ? "" : input.dims.front();
    entry.isLabel = input.name == "labels";
  }
  Problems ignored;
  return chooseBatchAxis(inputs, options.batchInputs, ignored);
}

/// Adds to each input whether it has a batch axis: the decision of the training program if it
/// exists, since the labels of the loss affect it.
void addBatchAxis(Compilation &compilation, const Options &options, bool hasProgram,
                  llvm::json::Object &description) {
  llvm::StringMap<bool> isBatched;
  if (hasProgram) {
    for (auto input : compilation.getProgram().getInputs().getOps<InputOp>())
      isBatched[input.getName()] = input.getRows();
  } else if (std::optional<BatchAxis> axis = guessBatchAxis(compilation, options)) {
    for (const ModelInput &input : compilation.getModel()->getInputs())
      isBatched[input.name] = axis->inputs.contains(input.name);
  }
  for (llvm::json::Value &value : *description.getArray("inputs")) {
    llvm::json::Object &input = *value.getAsObject();
    if (auto known = isBatched.find(*input.getString("name")); known != isBatched.end())
      input["batched"] = known->second;
  }
}

/// Describes the model before compilation.
llvm::json::Object describe(Compilation &compilation) {
  const SourceModel &model = *compilation.getModel();
  llvm::json::Array inputs, initializers;
  for (const ModelInput &input : model.getInputs())
    inputs.push_back(
        llvm::json::Object{{"name", input.name}, {"dims", llvm::json::Array(input.dims)}});
  int64_t parameters = 0;
  for (const Parameters::Row &known : compilation.getParameters().initializers) {
    if (known.isTrained)
      parameters += ShapedType::getNumElements(known.shape);
    llvm::json::Object row{{"name", known.name},
                           {"shape", llvm::json::Array(known.shape)},
                           {"role", known.role},
                           {"reason", known.reason}};
    if (!known.moduleName.empty())
      row["module_name"] = known.moduleName;
    if (known.looksTrainable)
      row["looks_trainable"] = true;
    if (known.isDoubtful && !StringRef(known.reason).starts_with("--"))
      row["doubtful"] = true;
    initializers.push_back(std::move(row));
  }
  // Adds trainable constants that are Constant nodes instead of initializers.
  for (const TrainableConstant &constant : compilation.getParameters().constants) {
    llvm::json::Object row{{"name", constant.name},
                           {"shape", llvm::json::Array(constant.shape)},
                           {"role", "constant"},
                           {"reason", "a Constant node"},
                           {"looks_trainable", true}};
    if (!constant.moduleName.empty())
      row["module_name"] = constant.moduleName;
    initializers.push_back(std::move(row));
  }
  llvm::json::Array ties;
  for (const Parameters::Tie &tie : compilation.getParameters().ties)
    ties.push_back(llvm::json::Object{
        {"name", tie.name}, {"copy", tie.copy}, {"same_layout", tie.hasSameLayout}});
  llvm::json::Object description = model.describe();
  description["model"] = model.getName();
  description["inputs"] = std::move(inputs);
  description["parameter_count"] = parameters;
  description["initializers"] = std::move(initializers);
  description["ties"] = std::move(ties);
  return description;
}

/// Adds the number of fused attentions, and the reasons why others stay decomposed; adds nothing if
/// the model has no attention.
void addAttention(ModuleOp module, llvm::json::Object &description) {
  auto forward = module.lookupSymbol<func::FuncOp>(forwardName);
  auto report = forward ? forward->getAttrOfType<AttentionReportAttr>(attentionAttribute) : nullptr;
  if (!report)
    return;
  llvm::json::Array refused;
  for (StringRef reason : report.getDecomposed().getAsValueRange<StringAttr>())
    refused.push_back(reason);
  description["attention"] =
      llvm::json::Object{{"recognized", report.getFused()}, {"refused", std::move(refused)}};
}

/// A compilation to the forward stage, and its messages.
struct Attempt {
  explicit Attempt(const Options &options)
      : options(options), compilation(std::make_unique<Compilation>(options)) {
    HeldMessages held;
    isImported = succeeded(compilation->import());
    compiles = isImported && succeeded(compilation->lower(Stage::Forward));
    messages = held.get().vec();
  }

  Options options;
  std::unique_ptr<Compilation> compilation;
  bool isImported = false, compiles = false;
  std::vector<Message> messages;
};

/// Returns the dimensions of inputs without a size, fixed or given by `--dim`.
std::vector<std::string> findOpenDimensions(Compilation &compilation) {
  std::vector<std::string> open;
  for (const ModelInput &input : compilation.getModel()->getInputs())
    for (const std::string &dim : input.dims)
      if (!evaluateDimension(dim, compilation.getDims()))
        for (const std::string &name : dimensionNames(dim))
          if (!compilation.getDims().contains(name) && !llvm::is_contained(open, name))
            open.push_back(name);
  return open;
}

/// Compiles the model with several sizes of the open dimensions. Returns the first attempt that
/// compiles, or else the first attempt.
Attempt tryOpenDimensions(const Options &options, llvm::ArrayRef<std::string> open) {
  constexpr int64_t sizes[] = {128, 64, 16, 8, 1};
  std::optional<Attempt> first;
  for (int64_t size : sizes) {
    Options sized = options;
    for (const std::string &name : open)
      sized.plan.dims[name] = size;
    Attempt attempt(sized);
    if (attempt.compiles)
      return attempt;
    if (!first)
      first.emplace(std::move(attempt));
  }
  return std::move(*first);
}

/// Lowers the compilation to the training stage. Returns the inferred loss, or "" if the outputs do
/// not determine one.
std::string inferLoss(Compilation &compilation) {
  HeldMessages held;
  if (failed(compilation.lower(Stage::Training)))
    return "";
  return compilation.getProgram().getLoss().value_or("").str();
}

/// Returns a command that compiles the model: the given flags, sizes of open dimensions, the loss.
std::string suggestCommand(const Options &options, llvm::ArrayRef<std::string> open,
                           StringRef loss) {
  std::string command =
      "mtc compile " + quoteForShell(options.model) + spellGivenFlags(Command::Compile);
  for (const std::string &name : open)
    command +=
        " --dim " + quoteForShell(name + "=" + std::to_string(options.plan.dims.lookup(name)));
  if (options.plan.training.loss.loss.empty() && loss != "output")
    command += " --loss " + (loss.empty() ? "NAME" : loss.str());
  return command;
}

} // namespace

int mtc::tool::inspect(const Options &options) {
  if (isStageText(options.model))
    fail(options.model + ": stage text; expected an ONNX model");
  Options described = options;
  described.explainsDefaults = false;
  Attempt attempt(described);
  if (!attempt.compilation->getModel()) {
    sayGrouped(attempt.messages);
    return 1;
  }
  std::vector<std::string> open;
  if (!attempt.isImported)
    open = findOpenDimensions(*attempt.compilation);
  if (!open.empty())
    attempt = tryOpenDimensions(described, open);
  Compilation &compilation = *attempt.compilation;
  llvm::json::Object description = describe(compilation);
  llvm::json::Object dims;
  for (const auto &dim : compilation.getDims())
    dims[dim.first()] = dim.second;
  description["dimensions"] = std::move(dims);
  description["open_dimensions"] = llvm::json::Array(open);
  description["compiles"] = attempt.compiles;
  std::string loss;
  if (attempt.compiles) {
    addAttention(compilation.getModule(), description);
    loss = inferLoss(compilation);
    description["loss"] = loss;
    description["command"] = suggestCommand(attempt.options, open, loss);
  }
  addBatchAxis(compilation, attempt.options, /*hasProgram=*/!loss.empty(), description);
  if (options.json) {
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(description)));
  } else {
    std::string text;
    llvm::raw_string_ostream os(text);
    printModel(description, options.verbose, os);
    show(text);
  }
  llvm::outs().flush();
  sayGrouped(attempt.messages);
  return attempt.compiles ? 0 : 1;
}
