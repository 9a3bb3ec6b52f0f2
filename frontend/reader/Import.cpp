//===- Import.cpp - From an ONNX file to the onnx dialect
//---------------------------------------===//

#include "frontend/reader/Import.h"
#include "frontend/dialect/ElementTypes.h"
#include "frontend/dialect/Onnx.h"
#include "frontend/reader/Attributes.h"
#include "frontend/reader/Binding.h"
#include "frontend/reader/Dimensions.h"
#include "frontend/reader/Functions.h"
#include "frontend/reader/TensorData.h"
#include "ir/Mtc.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mtc::onnx;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using ::onnx::ValueInfoProto;

namespace {

/// Constants up to this size are folded at compile time; larger ones stay in the file.
constexpr int64_t mostConstantBytes = 64 << 10;
constexpr int64_t mostIntegerBytes = 64 << 20;

std::string dimensionText(const ::onnx::TensorShapeProto::Dimension &dim) {
  return dim.has_dim_value() ? std::to_string(dim.dim_value()) : dim.dim_param();
}

/// A node as messages and reports name it: its module's path where the exporter keeps it elsewhere.
std::string nodeLabel(const NodeProto &node, size_t index) {
  std::string label = node.name();
  for (const auto &entry : node.metadata_props()) {
    if (entry.key() != "pkg.torch.onnx.name_scopes")
      continue;
    SmallVector<StringRef> parts;
    StringRef(entry.value()).trim("[]").split(parts, ", ");
    StringRef module = parts.size() < 2 ? StringRef() : parts[parts.size() - 2].trim("'\"");
    if (!module.empty())
      return ("/" + module + "/" + (label.empty() ? node.op_type() : label)).str();
  }
  return label.empty() ? node.op_type() + "_" + std::to_string(index) : label;
}

class Importer {
public:
  Importer(Model &model, MLIRContext &context, const ImportOptions &options,
           const llvm::StringMap<InitializerClass> &classes, Problems &problems)
      : model(model), graph(model.proto().graph()), context(context), options(options),
        classes(classes), problems(problems), builder(&context) {}

  OwningOpRef<ModuleOp> run() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    builder.setInsertionPointToEnd(module->getBody());
    std::vector<NodeProto> nodes = inlineFunctions(model.proto(), problems);
    createGraph();
    reportUnboundDimensions();
    for (const TensorProto &tensor : graph.initializer())
      addInitializer(tensor);
    addNodes(nodes);
    finish();
    return problems.empty() ? std::move(module) : nullptr;
  }

private:
  //===------------------------------------------------------------------------------------------===//
  // Inputs
  //===------------------------------------------------------------------------------------------===//

  /// The type of an input; extents that are not bound are dynamic and noted.
  Type inputType(const ValueInfoProto &info) {
    if (!info.type().has_tensor_type()) {
      problems.add("input '" + info.name() + "' is no tensor");
      return {};
    }
    const auto &tensor = info.type().tensor_type();
    Type element = elementTypeFromOnnx(&context, tensor.elem_type());
    if (!element) {
      problems.add("input '" + info.name() + "' has the element type " +
                   onnxDataTypeName(tensor.elem_type()) + ", which is not supported");
      return {};
    }
    if (!tensor.has_shape())
      return UnrankedTensorType::get(element);
    SmallVector<int64_t> shape;
    for (const auto &dim : tensor.shape().dim()) {
      if (dim.has_dim_value()) {
        if (dim.dim_value() < 0)
          problems.add("input '" + info.name() + "' has the negative dimension " +
                       Twine(dim.dim_value()));
        shape.push_back(std::max<int64_t>(dim.dim_value(), 0));
      } else if (auto size = evaluateDimension(dim.dim_param(), options.dims); size && *size > 0) {
        shape.push_back(*size);
      } else {
        shape.push_back(ShapedType::kDynamic);
        unbound[dim.dim_param()].push_back(info.name());
      }
    }
    int64_t elements = 1;
    for (int64_t extent : shape)
      if (extent > 0 && llvm::MulOverflow(elements, extent, elements)) {
        problems.add("input '" + info.name() + "' has more elements than memory can hold");
        return {};
      }
    return RankedTensorType::get(shape, element);
  }

  bool isBound(StringRef name) {
    return llvm::any_of(options.binds, [&](const auto &bind) { return bind.first == name; });
  }

  void createGraph() {
    SmallVector<Type> types;
    SmallVector<const ValueInfoProto *> inputs;
    SmallVector<std::pair<const ValueInfoProto *, Type>> constants;
    llvm::StringSet<> names;
    for (const ValueInfoProto &info : graph.input()) {
      if (model.hasInitializer(info.name()))
        continue; // Before IR version 4 initializers were inputs too.
      if (!names.insert(info.name()).second)
        problems.add("two inputs are named '" + info.name() + "'");
      Type type = inputType(info);
      if (!type)
        type = UnrankedTensorType::get(builder.getF32Type());
      if (isBound(info.name())) {
        constants.push_back({&info, type});
        continue;
      }
      inputs.push_back(&info);
      types.push_back(type);
    }
    for (const auto &[name, value] : options.binds)
      if (!names.contains(name))
        problems.add("--bind " + name + "=" + value + ": there is no graph input '" + name + "'");

    function = GraphOp::create(builder, UnknownLoc::get(&context), "main",
                               builder.getFunctionType(types, {}), ArrayAttr(), ArrayAttr());
    Block &block = function.getBody().emplaceBlock();
    builder.setInsertionPointToEnd(&block);
    for (auto [i, info] : llvm::enumerate(inputs)) {
      values[info->name()] =
          block.addArgument(types[i], NameLoc::get(builder.getStringAttr(info->name())));
      function.setArgAttr(i, "onnx.name", builder.getStringAttr(info->name()));
      SmallVector<Attribute> dims;
      for (const auto &dim : info->type().tensor_type().shape().dim())
        dims.push_back(builder.getStringAttr(dimensionText(dim)));
      function.setArgAttr(i, "onnx.dims", builder.getArrayAttr(dims));
    }
    for (auto [info, type] : constants)
      bindInput(*info, type);
  }

  void bindInput(const ValueInfoProto &info, Type type) {
    auto it =
        llvm::find_if(options.binds, [&](const auto &bind) { return bind.first == info.name(); });
    llvm::Expected<DenseElementsAttr> value = parseBinding(it->second, cast<TensorType>(type));
    if (!value)
      return problems.add("--bind " + info.name() + "=" + it->second + ": " +
                          llvm::toString(value.takeError()));
    values[info.name()] =
        ConstantOp::create(builder, NameLoc::get(builder.getStringAttr(info.name())),
                           value->getType(), cast<ElementsAttr>(*value));
    // A bound input's extents are known by the value.
    for (auto &entry : unbound)
      llvm::erase(entry.second, info.name());
  }

  void reportUnboundDimensions() {
    for (const auto &entry : unbound) {
      if (entry.second.empty())
        continue;
      std::string inputs = llvm::join(entry.second, "', '");
      StringRef name = entry.first();
      if (name.empty())
        problems.add("input '" + inputs +
                     "' has a dimension without name or size: export it with a "
                     "name or a size, or give the input's value with --bind");
      else if (isDimensionName(name))
        problems.add("dimension '" + name + "' of input '" + inputs +
                     "' has no size: give it with --dim " + name + "=N");
    }
  }

  //===------------------------------------------------------------------------------------------===//
  // Initializers
  //===------------------------------------------------------------------------------------------===//

  void addInitializer(const TensorProto &tensor) {
    auto wrong = [&](llvm::Error error) {
      problems.add("initializer '" + tensor.name() + "': " + llvm::toString(std::move(error)));
    };
    llvm::Expected<RankedTensorType> type = tensorType(&context, tensor);
    if (!type)
      return wrong(type.takeError());
    Location loc = NameLoc::get(builder.getStringAttr(tensor.name()));
    auto it = classes.find(tensor.name());
    bool isParameter = it != classes.end() && it->second.role != InitializerRole::Constant;
    int64_t most = it == classes.end() ? mostIntegerBytes : mostConstantBytes;
    if (!isParameter && mtc::byteSize(*type) <= most) {
      llvm::Expected<ArrayRef<char>> bytes = model.tensorBytes(tensor, *type);
      if (bytes) {
        values[tensor.name()] = ConstantOp::create(
            builder, loc, *type, cast<ElementsAttr>(denseFromBytes(*type, *bytes)));
        return;
      }
      if (tensor.data_location() != TensorProto::EXTERNAL)
        return wrong(bytes.takeError());
      // A file without its data can still be planned.
      llvm::consumeError(bytes.takeError());
    }
    static constexpr StringRef roles[] = {"parameter", "constant", "state"};
    StringAttr role = builder.getStringAttr("constant"), reason, moduleName;
    if (it != classes.end()) {
      role = builder.getStringAttr(roles[static_cast<unsigned>(it->second.role)]);
      reason = builder.getStringAttr(it->second.reason);
      if (!it->second.moduleName.empty())
        moduleName = builder.getStringAttr(it->second.moduleName);
    }
    values[tensor.name()] = InitializerOp::create(
        builder, loc, *type, builder.getStringAttr(tensor.name()), role, reason, moduleName);
  }

  //===------------------------------------------------------------------------------------------===//
  // Nodes
  //===------------------------------------------------------------------------------------------===//

  Value none() {
    if (!noneValue) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&function.getBody().front());
      noneValue = NoneOp::create(builder, UnknownLoc::get(&context), builder.getNoneType());
    }
    return noneValue;
  }

  /// Nodes must be sorted: an input that only a later node gives is part of a cycle or out of
  /// order.
  void addNodes(const std::vector<NodeProto> &nodes) {
    for (const NodeProto &node : nodes)
      for (const std::string &output : node.output())
        if (!output.empty())
          given.insert(output);
    for (auto [index, node] : llvm::enumerate(nodes))
      addNode(node, index);
  }

  void addNode(const NodeProto &node, size_t index) {
    std::string label = nodeLabel(node, index);
    Location loc = NameLoc::get(builder.getStringAttr(label));
    auto wrong = [&](const Twine &what) {
      problems.add("node '" + label + "' (" + node.op_type() + "): " + what);
    };
    SmallVector<Value> inputs;
    for (const std::string &name : node.input()) {
      if (name.empty()) {
        inputs.push_back(none());
      } else if (Value value = values.lookup(name)) {
        inputs.push_back(value);
      } else {
        // What already failed was reported there.
        if (!broken.contains(name) && !model.hasInitializer(name))
          wrong("its input '" + name + "' " +
                (given.contains(name)
                     ? "is computed by a later node: the nodes are not sorted, or form a cycle"
                     : "is neither an input, an initializer nor another node's output"));
        inputs.push_back(none());
      }
    }
    llvm::Expected<DictionaryAttr> attributes = importAttributes(node, model, context);
    if (!attributes) {
      wrong(llvm::toString(attributes.takeError()));
      for (const std::string &name : node.output())
        broken.insert(name);
      return;
    }
    SmallVector<Type> types;
    for (const std::string &name : node.output())
      types.push_back(name.empty() ? Type(builder.getNoneType())
                                   : Type(UnrankedTensorType::get(builder.getF32Type())));
    SmallVector<Value> outputs = createNode(node, loc, inputs, types, *attributes);
    for (auto [name, value] : llvm::zip_equal(node.output(), outputs)) {
      if (name.empty())
        continue;
      if (!values.try_emplace(name, value).second || model.hasInitializer(name))
        wrong("its output '" + name + "' is given twice");
    }
  }

  SmallVector<Value> createNode(const NodeProto &node, Location loc, ValueRange inputs,
                                TypeRange types, DictionaryAttr attributes) {
    // A Constant of numbers is a value like a folded one.
    if (node.op_type() == "Constant" && types.size() == 1)
      if (auto value = constantValue(attributes))
        return {ConstantOp::create(builder, loc, value.getType(), cast<ElementsAttr>(value))};
    StringAttr domain;
    if (!node.domain().empty() && node.domain() != "ai.onnx")
      domain = builder.getStringAttr(node.domain());
    return NodeOp::create(builder, loc, types, builder.getStringAttr(node.op_type()),
                          builder.getI64IntegerAttr(versionOf(node.domain())), domain, attributes,
                          inputs)
        .getResults();
  }

  int64_t versionOf(StringRef domain) {
    if (domain.empty() || domain == "ai.onnx")
      return model.opset();
    for (const auto &import : model.proto().opset_import())
      if (import.domain() == domain)
        return import.version();
    return 1;
  }

  //===------------------------------------------------------------------------------------------===//
  // Outputs
  //===------------------------------------------------------------------------------------------===//

  void finish() {
    SmallVector<Value> outputs;
    SmallVector<Type> types;
    SmallVector<Attribute> attributes;
    for (const ValueInfoProto &info : graph.output()) {
      Value value = values.lookup(info.name());
      if (!value) {
        if (!broken.contains(info.name()))
          problems.add("output '" + info.name() + "' is computed by no node");
        continue;
      }
      outputs.push_back(value);
      types.push_back(value.getType());
      attributes.push_back(builder.getDictionaryAttr(
          builder.getNamedAttr("onnx.name", builder.getStringAttr(info.name()))));
    }
    if (outputs.empty() && problems.empty())
      problems.add("the graph has no outputs");
    ReturnOp::create(builder, UnknownLoc::get(&context), outputs);
    function.setFunctionType(
        builder.getFunctionType(function.getFunctionType().getInputs(), types));
    function.setResAttrsAttr(builder.getArrayAttr(attributes));
  }

  Model &model;
  const ::onnx::GraphProto &graph;
  MLIRContext &context;
  const ImportOptions &options;
  const llvm::StringMap<InitializerClass> &classes;
  Problems &problems;
  OpBuilder builder;
  GraphOp function;
  Value noneValue;
  llvm::StringMap<Value> values;
  llvm::StringMap<SmallVector<std::string>> unbound; // Inputs by dimension.
  llvm::StringSet<> given, broken;
};

} // namespace

std::vector<ModelInput> mtc::onnx::modelInputs(const Model &model) {
  std::vector<ModelInput> inputs;
  for (const ValueInfoProto &info : model.proto().graph().input()) {
    if (model.hasInitializer(info.name()))
      continue;
    ModelInput input{info.name(), {}};
    for (const auto &dim : info.type().tensor_type().shape().dim())
      input.dims.push_back(dimensionText(dim));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

OwningOpRef<ModuleOp> mtc::onnx::importModel(Model &model, MLIRContext &context,
                                             const ImportOptions &options,
                                             const llvm::StringMap<InitializerClass> &classes,
                                             Problems &problems) {
  context.loadDialect<OnnxDialect>();
  return Importer(model, context, options, classes, problems).run();
}
