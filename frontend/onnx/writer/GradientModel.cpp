//===- GradientModel.cpp - The gradient of a loss as an ONNX model ----------------------------===//

#include "frontend/onnx/writer/GradientModel.h"
#include "frontend/onnx/reader/MetadataKeys.h"
#include "frontend/onnx/reader/WriterMark.h"
#include "frontend/onnx/writer/Conversions.h"
#include "frontend/onnx/writer/TensorProtos.h"
#include "ir/NodeNames.h"
#include "ir/ReservedNames.h"
#include "ir/attributes/DiscardableAttributes.h"
#include "ir/builders/TensorBuilder.h"
#include "runtime/abi/file_marks.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace mtc::onnx {

/// Limit of a serialized message.
static constexpr uint64_t maxModelBytes = INT32_MAX;
/// Runtimes map large initializers into memory by pages.
static constexpr uint64_t pageBytes = 4096, alignedBytes = 64;
static constexpr llvm::StringLiteral dataMark = "#" MTC_TEXT_MARK "\n";

static constexpr llvm::StringLiteral lossOutput = "loss", gradientSuffix = ".gradient",
                                     updateSuffix = ".updated";

/// Builds the graph of a model.
class GradientModel::Builder {
public:
  Builder(GradientModel &model, ModuleOp module, Model &source, const Options &options,
          Problems &problems)
      : model(model), module(module), source(source), options(options), problems(problems),
        graph(*model.message->mutable_graph()), b(graph, module.getContext()),
        function(module.lookupSymbol<func::FuncOp>(microStepName)) {}

  void run();

private:
  /// The current value of a variable and, for a gradient or state, its name as an output.
  struct Variable {
    VariableOp op;
    std::optional<GraphValue> value;
    bool isWritten = false;
  };

  void addArguments();
  void addVariables();
  void addParameterInput(Variable &variable);
  void addInitializer(StringRef name, VariableOp op, InitializerAttr initial);
  std::optional<GraphValue> valueOf(VariableOp op);
  void convert(Operation &op);
  void reserve(StringRef name, const Twine &what);
  void addOutputs();
  void addOutput(const std::string &name, const GraphValue &value);
  void addInitializers();
  void describeInitializers();
  void reportUnsupported();
  void checkSize();

  GradientModel &model;
  ModuleOp module;
  Model &source;
  const Options &options;
  Problems &problems;
  ::onnx::GraphProto &graph;
  GraphBuilder b;
  func::FuncOp function;
  llvm::MapVector<StringRef, Variable> variables;
  /// A description of the owner of each name, for messages.
  llvm::StringMap<std::string> names;
  llvm::StringMap<GraphValue> inputs;
  /// Initializers of the source, by their names in the model.
  llvm::MapVector<StringRef, StringRef> initializers;
  std::optional<GraphValue> loss;
  SmallVector<Operation *> unsupported;
};

void GradientModel::Builder::reserve(StringRef name, const Twine &what) {
  auto [known, isNew] = names.try_emplace(name, what.str());
  b.reserve(name);
  if (!isNew)
    problems.add("the written model would use the name " + quoted(name) + " for " + known->second +
                 " and for " + what + "; rename one of them in the source");
}

void GradientModel::Builder::addArguments() {
  for (BlockArgument argument : function.getArguments()) {
    StringRef name =
        function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), nameAttribute).getValue();
    reserve(name, "an input");
    setInfo(*graph.add_input(), name, typeOf(argument));
    GraphValue value{name.str(), typeOf(argument)};
    inputs[name] = value;
    b.define(argument, value);
  }
}

/// Declares the outputs of variables, so that no value of the graph gets their names.
void GradientModel::Builder::addVariables() {
  reserve(lossOutput, "the loss");
  for (auto op : module.getOps<VariableOp>())
    variables[op.getSymName()] = {op, std::nullopt};
  for (auto &[name, variable] : variables) {
    VariableOp op = variable.op;
    if (op.getRole() == Role::Gradient)
      reserve((*op.getOf() + gradientSuffix).str(), "the gradient of " + quoted(*op.getOf()));
    else if (op.getRole() == Role::State)
      reserve((name + updateSuffix).str(), "the update of " + quoted(name));
    if (inputs.contains(name) || op.getRole() == Role::Gradient)
      continue;
    reserve(name, "an initializer");
    if (options.parametersAreInputs && op.getRole() == Role::Parameter)
      addParameterInput(variable);
  }
}

/// Returns the type in the source of a variable that starts as an initializer. Reports an error and
/// returns null if there is none.
static RankedTensorType sourceType(Model &source, VariableOp op, Problems &problems) {
  auto initial = dyn_cast<InitializerAttr>(op.getInitial());
  if (!initial)
    return op.getTensorType();
  llvm::Expected<RankedTensorType> type =
      source.initializerType(op.getContext(), initial.getName());
  if (type)
    return *type;
  problems.add("initializer " + quoted(initial.getName()) + ": " +
               llvm::toString(type.takeError()));
  return {};
}

void GradientModel::Builder::addParameterInput(Variable &variable) {
  VariableOp op = variable.op;
  RankedTensorType type = sourceType(source, op, problems);
  if (!type)
    return;
  setInfo(*graph.add_input(), op.getSymName(), type);
  variable.value = b.cast({op.getSymName().str(), type}, op.getTensorType().getElementType());
}

/// Returns the value of a variable before the step.
std::optional<GraphValue> GradientModel::Builder::valueOf(VariableOp op) {
  if (auto input = inputs.find(op.getSymName()); input != inputs.end())
    return input->second;
  if (auto initial = dyn_cast<InitializerAttr>(op.getInitial())) {
    RankedTensorType type = sourceType(source, op, problems);
    if (!type)
      return std::nullopt;
    initializers[op.getSymName()] = initial.getName();
    return b.cast({op.getSymName().str(), type}, op.getTensorType().getElementType());
  }
  if (auto elements = dyn_cast<ElementsAttr>(op.getInitial()))
    if (std::optional<Tensor> tensor = Tensor::fromAttribute(elements))
      return b.constant(*tensor);
  return std::nullopt; // A scalar of the runtime, which only operations without a form read.
}

/// Returns whether an operand or result has 8-bit floats, for which opset 18 has no operators.
static bool hasNarrowFloats(Operation *op) {
  auto isNarrow = [](Type type) {
    auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
    return element && element.getWidth() < 16;
  };
  return llvm::any_of(op->getOperandTypes(), isNarrow) ||
         llvm::any_of(op->getResultTypes(), isNarrow);
}

void GradientModel::Builder::convert(Operation &op) {
  if (auto read = dyn_cast<ReadOp>(op)) {
    Variable &variable = variables[read.getVariable()];
    b.setName("");
    if (!variable.value)
      variable.value = valueOf(variable.op);
    // After an error, users are still checked.
    return b.define(read.getResult(), variable.value.value_or(GraphValue{"", typeOf(read)}));
  }
  if (auto write = dyn_cast<WriteOp>(op)) {
    Variable &variable = variables[write.getVariable()];
    variable.value = b.get(write.getValue());
    variable.isWritten = true;
    return;
  }
  if (isa<func::ReturnOp>(op)) {
    for (OpOperand &operand : op.getOpOperands()) {
      auto name =
          function.getResultAttrOfType<StringAttr>(operand.getOperandNumber(), nameAttribute);
      if (name && name.getValue() == lossName)
        loss = b.get(operand.get());
    }
    return;
  }
  b.setName(nodeNames(op.getLoc()));
  const Conversions::Convert *conversion = Conversions::get().find(&op);
  if (conversion && !hasNarrowFloats(&op))
    return (*conversion)(&op, b);
  unsupported.push_back(&op);
  for (Value result : op.getResults())
    if (isa<RankedTensorType>(result.getType()))
      b.define(result, {"", typeOf(result)});
}

/// Returns why an operation has no form in standard operators.
static std::string describeUnsupported(Operation *op) {
  if (isa<RandomBitsOp>(op))
    return "random numbers";
  return hasNarrowFloats(op) ? "8-bit floats" : op->getName().getStringRef().str();
}

void GradientModel::Builder::reportUnsupported() {
  if (unsupported.empty())
    return;
  SmallVector<std::string> texts;
  for (Operation *op : unsupported)
    if (std::string text =
            "node '" + nodeNames(op->getLoc()) + "' (" + describeUnsupported(op) + ")";
        !llvm::is_contained(texts, text))
      texts.push_back(text);
  const bool isRandom = llvm::any_of(unsupported, llvm::IsaPred<RandomBitsOp>);
  problems.add(
      "the gradient has no form in standard operators of ONNX: " + llvm::join(texts, ", ") +
      (isRandom ? "; replace the random numbers by a graph input" : ""));
}

/// Reports a graph that exceeds the limit without the data of its initializers.
void GradientModel::Builder::checkSize() {
  if (const uint64_t bytes = model.message->ByteSizeLong(); bytes > maxModelBytes)
    problems.add("the nodes and constants of the gradient have " + Twine(bytes) +
                 " bytes; an ONNX file without the data of initializers is limited to 2 GiB");
}

void GradientModel::Builder::addOutput(const std::string &name, const GraphValue &value) {
  setInfo(*graph.add_output(), name, value.type);
  b.setOutput(value, name);
}

void GradientModel::Builder::addOutputs() {
  addOutput(lossOutput.str(), *loss);
  for (auto &[name, variable] : variables)
    if (variable.op.getRole() == Role::Gradient && variable.isWritten) {
      addOutput((*variable.op.getOf() + gradientSuffix).str(), *variable.value);
      ++model.gradientCount;
    }
  for (auto &[name, variable] : variables)
    if (variable.op.getRole() == Role::State && variable.isWritten)
      addOutput((name + updateSuffix).str(), *variable.value);
}

/// Describes the initializers as `mtc.export` does: `mtc grad` of the model trains the same
/// parameters.
void GradientModel::Builder::describeInitializers() {
  llvm::json::Array parameters, buffers;
  for (const ::onnx::TensorProto &tensor : graph.initializer()) {
    const Role role = variables[tensor.name()].op.getRole();
    llvm::json::Object entry{{"name", tensor.name()}};
    if (role != Role::Parameter && role != Role::Frozen) {
      buffers.push_back(std::move(entry));
      continue;
    }
    entry["requires_grad"] = role == Role::Parameter;
    parameters.push_back(std::move(entry));
  }
  ::onnx::StringStringEntryProto &entry = *model.message->add_metadata_props();
  entry.set_key(moduleKey.str());
  entry.set_value(llvm::formatv("{0}", llvm::json::Value(
                                           llvm::json::Object{{"format", moduleFormat},
                                                              {"parameters", std::move(parameters)},
                                                              {"buffers", std::move(buffers)}}))
                      .str());
}

/// Adds the initializers that some node reads.
void GradientModel::Builder::addInitializers() {
  const llvm::StringSet<> read = b.eraseDead();
  for (const auto &[name, of] : initializers) {
    if (!read.contains(name))
      continue;
    const Initializer *initializer = source.findInitializer(of);
    model.sourceHasDataFile |= initializer && initializer->isExternal;
    llvm::Expected<RankedTensorType> type = source.initializerType(module.getContext(), of);
    llvm::Expected<ArrayRef<char>> bytes = source.initializerBytes(of);
    if (!bytes || !type) {
      problems.add("initializer " + quoted(of) + ": " +
                   llvm::toString(llvm::joinErrors(bytes.takeError(), type.takeError())));
      continue;
    }
    ::onnx::TensorProto &tensor = *graph.add_initializer();
    setHeader(tensor, *type);
    tensor.set_name(name.str());
    model.data.push_back({*bytes});
  }
}

void GradientModel::Builder::run() {
  graph.set_name("gradient");
  addArguments();
  addVariables();
  for (Operation &op : function.front())
    convert(op);
  reportUnsupported();
  if (!problems.empty())
    return;
  addOutputs();
  addInitializers();
  describeInitializers();
  if (llvm::any_of(graph.node(),
                   [](const ::onnx::NodeProto &node) { return node.metadata_props_size() > 0; }))
    model.message->set_ir_version(nodeMetadataIrVersion);
  checkSize();
}

GradientModel::GradientModel() : message(std::make_unique<::onnx::ModelProto>()) {}
GradientModel::~GradientModel() = default;

std::vector<std::string> GradientModel::getOperations() { return Conversions::get().getNames(); }

std::unique_ptr<GradientModel> GradientModel::build(ModuleOp module, Model &source,
                                                    const Options &options, Problems &problems) {
  std::unique_ptr<GradientModel> model(new GradientModel);
  ::onnx::ModelProto &message = *model->message;
  message.set_ir_version(writtenIrVersion);
  message.set_producer_name("mtc");
  message.set_producer_version(options.producerVersion);
  ::onnx::OperatorSetIdProto &opset = *message.add_opset_import();
  opset.set_domain("");
  opset.set_version(writtenOpset);
  markAsWritten(message);
  Builder(*model, module, source, options, problems).run();
  return problems.empty() ? std::move(model) : nullptr;
}

bool GradientModel::needsDataFile() const {
  uint64_t bytes = message->ByteSizeLong();
  for (const Data &each : data)
    bytes += each.bytes.size();
  return sourceHasDataFile || bytes > maxModelBytes;
}

void GradientModel::useDataFile(StringRef name) {
  hasDataFile = true;
  uint64_t offset = dataMark.size();
  for (auto [each, tensor] :
       llvm::zip_equal(data, *message->mutable_graph()->mutable_initializer())) {
    offset = llvm::alignTo(offset, each.bytes.size() >= pageBytes ? pageBytes : alignedBytes);
    each.offset = offset;
    tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
    auto add = [&](const char *key, const std::string &value) {
      ::onnx::StringStringEntryProto &entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    };
    add("location", name.str());
    add("offset", std::to_string(offset));
    add("length", std::to_string(each.bytes.size()));
    offset += each.bytes.size();
  }
}

void GradientModel::write(raw_ostream &os) {
  if (!hasDataFile)
    for (auto [each, tensor] :
         llvm::zip_equal(data, *message->mutable_graph()->mutable_initializer()))
      tensor.set_raw_data(each.bytes.data(), each.bytes.size());
  os << message->SerializeAsString();
}

void GradientModel::writeData(raw_ostream &os) const {
  os << dataMark;
  uint64_t offset = dataMark.size();
  for (const Data &each : data) {
    os.write_zeros(each.offset - offset);
    os.write(each.bytes.data(), each.bytes.size());
    offset = each.offset + each.bytes.size();
  }
}

} // namespace mtc::onnx
