//===- Inspect.cpp - `mtc inspect` ------------------------------------------------------------===//

#include "Commands.h"
#include "driver/Compilation.h"
#include "driver/StageText.h"

#include "frontend/Dimensions.h"
#include "frontend/reader/Import.h"
#include "frontend/rows/BatchAxis.h"
#include "ir/ReservedNames.h"
#include "ir/attributes/DiscardableAttributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include "onnx-ml.pb.h"

#include <map>

using namespace mlir;
using namespace mtc;
using namespace mtc::tool;

namespace {

/// Which inputs hold rows, as far as it follows without a loss; nothing where it does not.
std::optional<mtc::onnx::BatchAxis> findBatchAxis(Compilation &compilation,
                                                  const Options &options) {
  std::vector<mtc::onnx::StepInput> inputs;
  for (const mtc::onnx::ModelInput &input : mtc::onnx::modelInputs(*compilation.getModel())) {
    if (llvm::is_contained(llvm::make_first_range(compilation.getBinds()), input.name))
      continue;
    mtc::onnx::StepInput &entry = inputs.emplace_back();
    entry.name = input.name;
    for (const std::string &dim : input.dims) {
      std::optional<int64_t> extent = mtc::onnx::evaluateDimension(dim, compilation.getDims());
      if (!extent)
        return std::nullopt;
      entry.shape.push_back(*extent);
    }
    entry.firstDim = input.dims.empty() ? "" : input.dims.front();
    entry.isLabel = input.name == "labels";
  }
  mtc::onnx::Problems ignored;
  return mtc::onnx::chooseBatchAxis(inputs, options.batchInputs, ignored);
}

/// Adds the nodes of a graph and its subgraphs, by operator.
void countOperators(const ::onnx::GraphProto &graph, std::map<std::string, int64_t> &operators) {
  for (const auto &node : graph.node()) {
    ++operators[node.op_type()];
    for (const auto &attribute : node.attribute())
      if (attribute.has_g())
        countOperators(attribute.g(), operators);
  }
}

/// What `mtc inspect` finds before it tries to compile.
llvm::json::Object describe(Compilation &compilation, const Options &options) {
  mtc::onnx::Model &model = *compilation.getModel();
  llvm::json::Array inputs, initializers;
  std::optional<mtc::onnx::BatchAxis> axis = findBatchAxis(compilation, options);
  for (const mtc::onnx::ModelInput &input : mtc::onnx::modelInputs(model)) {
    llvm::json::Object row{{"name", input.name}, {"dims", llvm::json::Array(input.dims)}};
    if (axis)
      row["rows"] = axis->inputs.contains(input.name);
    inputs.push_back(std::move(row));
  }
  int64_t parameters = 0;
  for (const auto &[name, extents, known] : compilation.getParameters().initializers) {
    if (known.role == mtc::onnx::InitializerRole::Parameter)
      parameters += ShapedType::getNumElements(extents);
    llvm::json::Object row{{"name", name},
                           {"shape", llvm::json::Array(extents)},
                           {"role", mtc::onnx::roleName(known.role)},
                           {"reason", known.reason}};
    if (!known.moduleName.empty())
      row["module_name"] = known.moduleName;
    if (known.looksTrainable)
      row["looks_trainable"] = true;
    initializers.push_back(std::move(row));
  }
  // Those that are no initializers, but Constant nodes.
  for (const mtc::onnx::TrainableConstant &constant :
       compilation.getParameters().training.constants) {
    if (model.hasInitializer(constant.name))
      continue;
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
  // Without those that initializers stand for.
  std::map<std::string, int64_t> operators;
  countOperators(model.proto().graph(), operators);
  for (const mtc::onnx::AddedInitializer &added : compilation.getParameters().added)
    if (added.replaced)
      if (const auto &node = model.proto().graph().node(static_cast<int>(*added.replaced));
          --operators[node.op_type()] == 0)
        operators.erase(node.op_type());
  llvm::json::Object counts;
  for (const auto &[name, count] : operators)
    counts[name] = count;
  llvm::json::Array outputs;
  for (const auto &output : model.proto().graph().output())
    outputs.push_back(output.name());
  return llvm::json::Object{
      {"model", model.name()},         {"opset", model.opset()},
      {"inputs", std::move(inputs)},   {"outputs", std::move(outputs)},
      {"parameter_count", parameters}, {"initializers", std::move(initializers)},
      {"ties", std::move(ties)},       {"operators", std::move(counts)}};
}

/// How many attentions are fused, and which stay decomposed, why; absent where there are
/// none.
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

void print(const llvm::json::Object &description) {
  llvm::raw_ostream &os = llvm::outs();
  os << "model       " << *description.getString("model") << ", opset "
     << *description.getInteger("opset") << "\n";
  for (const llvm::json::Value &value : *description.getArray("inputs")) {
    const llvm::json::Object &input = *value.getAsObject();
    os << "input       " << *input.getString("name") << " [";
    llvm::interleaveComma(*input.getArray("dims"), os,
                          [&](const llvm::json::Value &dim) { os << *dim.getAsString(); });
    os << "]";
    if (std::optional<bool> hasRows = input.getBoolean("rows"))
      os << (*hasRows ? ", batch axis 0" : ", passed whole");
    os << "\n";
  }
  for (const llvm::json::Value &value : *description.getArray("outputs"))
    os << "output      " << *value.getAsString() << "\n";
  os << "parameters  " << *description.getInteger("parameter_count") << " elements\n";
  for (const llvm::json::Value &value : *description.getArray("initializers")) {
    const llvm::json::Object &row = *value.getAsObject();
    os << "  " << llvm::left_justify(*row.getString("role"), 10) << *row.getString("name") << " [";
    llvm::interleaveComma(*row.getArray("shape"), os,
                          [&](const llvm::json::Value &extent) { os << *extent.getAsInteger(); });
    os << "]";
    if (auto name = row.getString("module_name"))
      os << ", in the module " << *name;
    os << ": " << *row.getString("reason")
       << (row.getBoolean("looks_trainable") ? "; used like a parameter" : "") << "\n";
  }
  for (const llvm::json::Value &value : *description.getArray("ties")) {
    const llvm::json::Object &tie = *value.getAsObject();
    os << "tie         " << *tie.getString("name") << " = " << *tie.getString("copy")
       << (*tie.getBoolean("same_layout") ? "" : ", transposed") << "\n";
  }
  os << "operators  ";
  std::map<std::string, int64_t> operators;
  for (const auto &[name, count] : *description.getObject("operators"))
    operators[name.str()] = *count.getAsInteger();
  for (const auto &[name, count] : operators)
    os << " " << name << "×" << count;
  os << "\n";
  if (const llvm::json::Object *attention = description.getObject("attention")) {
    const llvm::json::Array &refused = *attention->getArray("refused");
    os << "attention   " << *attention->getInteger("recognized") << " fused, " << refused.size()
       << " decomposed\n";
    for (const llvm::json::Value &reason : refused)
      os << "  " << *reason.getAsString() << "\n";
  }
}

} // namespace

int mtc::tool::inspect(const Options &options) {
  if (isStageText(options.model))
    fail(options.model + " is stage text; expected an ONNX model");
  Compilation compilation(options);
  LogicalResult imported = compilation.import();
  if (!compilation.getModel())
    return 1;
  llvm::json::Object description = describe(compilation, options);
  bool compiles = succeeded(imported) && succeeded(compilation.lower(Stage::Forward));
  description["compiles"] = compiles;
  if (compiles)
    addAttention(compilation.getModule(), description);
  if (options.json)
    llvm::outs() << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(description)));
  else
    print(description);
  return compiles ? 0 : 1;
}
