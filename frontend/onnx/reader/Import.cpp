//===- Import.cpp - Import of an ONNX model to the onnx dialect -------------------------------===//

#include "frontend/onnx/reader/Import.h"

#include "frontend/Dimensions.h"
#include "frontend/onnx/dialect/ElementTypes.h"
#include "frontend/onnx/dialect/Modes.h"
#include "frontend/onnx/dialect/OptionalOutputs.h"
#include "frontend/onnx/reader/ExporterMetadata.h"
#include "frontend/onnx/reader/GraphCheck.h"
#include "frontend/onnx/reader/GraphInputs.h"
#include "frontend/onnx/reader/InitializerDigests.h"
#include "frontend/onnx/reader/MetadataKeys.h"
#include "frontend/onnx/reader/NodeImporter.h"
#include "frontend/onnx/reader/OutputSelection.h"
#include "frontend/onnx/reader/PaddingRows.h"
#include "frontend/onnx/reader/SampledElements.h"
#include "frontend/onnx/reader/TensorData.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/Builders.h"
#include "onnx-ml.pb.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace llvm;
using namespace mlir;

namespace mtc::onnx {

namespace {

class Importer {
public:
  Importer(Model &model, MLIRContext &context, const ImportOptions &options, Problems &problems)
      : model(model), proto(model.proto().graph()), context(context), options(options),
        problems(problems), builder(&context), metadata(model.proto(), problems) {}

  OwningOpRef<ModuleOp> run() {
    size_t before = problems.size();
    FunctionTable functions(model.proto(), problems);
    checkGraph(proto, problems);
    // Nodes of an invalid graph cannot be imported, but the remaining checks still run.
    bool isSound = problems.size() == before;
    selection = selectOutputs(proto, options.output, options.allOutputsOptional,
                              metadata.updateOutputs(), problems);
    collectBinds();
    checkDimensions();
    OwningOpRef<ModuleOp> module(ModuleOp::create(builder.getUnknownLoc()));
    builder.setInsertionPointToEnd(module->getBody());
    NodeImporter nodes(model, functions, metadata, builder, problems);
    declareValues(nodes);
    GraphOp graph = createGraph(nodes);
    describeGraph(graph);
    importInitializers(nodes);
    if (isSound)
      nodes.importGraph(proto, selection.optionalNodes);
    selectInferenceValues(graph, nodes);
    if (ArrayRef<StringRef> names = nodes.getSubgraphNames(); !names.empty())
      graph->setAttr(subgraphNamesAttribute, builder.getStrArrayAttr(names));
    describeModules(graph);
    describePadding(graph);
    for (const std::string &text : metadata.lostMarks())
      emitWarning(builder.getUnknownLoc()) << text;
    finish(graph, nodes, isSound);
    return module;
  }

private:
  Location locationOf(StringRef name) { return NameLoc::get(builder.getStringAttr(name)); }

  void collectBinds() {
    llvm::SmallVector<std::string> inputs;
    for (const ModelInput &input : modelInputs(model))
      inputs.push_back(input.name);
    for (const auto &[name, value] : options.binds) {
      if (!llvm::is_contained(inputs, name))
        problems.add("--bind " + name + "=" + value + ": no graph input " + quoted(name) +
                     listed("; the inputs are ", inputs));
      if (!binds.try_emplace(name, value).second)
        problems.add("--bind " + name + " is given twice");
    }
  }

  /// Reports unbound dimensions and invalid sizes. Sizes for unknown names are ignored.
  void checkDimensions() {
    std::map<std::string, std::string> unbound; // Name to the first use.
    for (const SymbolicDimension &dimension : model.symbolicDimensions()) {
      SmallVector<std::string> names = dimensionNames(dimension.text);
      if (evaluateDimension(dimension.text, options.dims) || binds.contains(dimension.input))
        continue;
      std::string where = " of input " + quoted(dimension.input);
      bool hasUnbound = false;
      for (const std::string &name : names)
        if (!options.dims.contains(name)) {
          hasUnbound = true;
          unbound.try_emplace(name, where);
        }
      if (!hasUnbound)
        problems.add("dimension " + quoted(dimension.text) + where +
                     ": invalid size with the given --dim; expected a whole number of 0 or more");
    }
    if (!options.allowUnboundDimensions)
      for (const auto &[name, where] : unbound)
        problems.add("dimension " + quoted(name) + where + ": unknown size; use " + "--dim " +
                     name + "=N");
    for (const auto &entry : options.dims) {
      std::string flag = ("--dim " + entry.first() + "=" + Twine(entry.second)).str();
      if (entry.second < 0)
        problems.add(flag + ": expected a size of 0 or more");
    }
  }

  static std::string listed(StringRef intro, ArrayRef<std::string> names) {
    std::string text;
    llvm::SmallVector<StringRef> shown;
    for (const std::string &name : names)
      if (!llvm::is_contained(shown, name))
        shown.push_back(name);
    for (StringRef name : shown)
      text += (text.empty() ? intro.str() : ", ") + quoted(name);
    return text;
  }

  /// Records the declared types of inner values, of outputs, and of initializers that are inputs.
  /// Inferred types must match them.
  void declareValues(NodeImporter &nodes) {
    llvm::StringSet<> sequences = valuesThatMayBeSequences();
    for (const auto *list : {&proto.value_info(), &proto.output(), &proto.input()})
      for (const auto &value : *list) {
        if (list == &proto.input() && !model.hasInitializer(value.name()))
          continue;
        // Inner sequences and optional values do not exist in the program, so their types are not
        // needed.
        if (list == &proto.value_info() && sequences.contains(value.name()) &&
            (value.type().has_sequence_type() || value.type().has_optional_type()))
          continue;
        if (std::string problem = declarationProblem(value, &context); !problem.empty())
          reject(value.name(), "value " + quoted(value.name()) + " " + problem, nodes);
        else if (TensorType type = declaredType(value, options.dims, &context))
          nodes.declare(value.name(), type);
      }
  }

  /// Returns the results of operators on sequences and optional values, of control flow and of
  /// functions.
  llvm::StringSet<> valuesThatMayBeSequences() const {
    llvm::StringSet<> result;
    for (const auto &node : proto.node()) {
      StringRef op = node.op_type();
      if (!normalizedDomain(node.domain()).empty() || op.contains("Sequence") ||
          op.starts_with("Optional") || op == "Identity" || op == "If" || op == "Loop")
        for (const std::string &output : node.output())
          result.insert(output);
    }
    return result;
  }

  /// Handles an unsupported value: an error, unless only optional outputs depend on the value.
  void reject(StringRef name, const std::string &problem, NodeImporter &nodes) {
    if (selection.optionalValues.contains(name))
      nodes.setUnavailable(name, problem);
    else
      problems.add(problem);
  }

  /// Creates the graph with its arguments. Bound inputs become constants.
  GraphOp createGraph(NodeImporter &nodes) {
    SmallVector<mlir::Type> types;
    SmallVector<DictionaryAttr> attributes;
    SmallVector<const ::onnx::ValueInfoProto *> arguments, bound;
    for (const auto &input : proto.input()) {
      if (model.hasInitializer(input.name()))
        continue;
      if (binds.contains(input.name())) {
        bound.push_back(&input);
        continue;
      }
      TensorType type = inputType(input, options.dims, &context, problems);
      if (!type)
        type = nodes.unknownType();
      if (auto ranked = dyn_cast<RankedTensorType>(type))
        nodes.checkDeclared(input.name(), ranked, "graph input " + quoted(input.name()));
      SmallVector<NamedAttribute> dictionary{
          builder.getNamedAttr("onnx.name", builder.getStringAttr(input.name()))};
      SmallVector<std::string> texts = dimensionTexts(input);
      if (llvm::any_of(texts, [](const std::string &text) { return !text.empty(); }))
        dictionary.push_back(builder.getNamedAttr(
            "onnx.dims",
            builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(ArrayRef<std::string>(texts)))));
      arguments.push_back(&input);
      types.push_back(type);
      attributes.push_back(builder.getDictionaryAttr(dictionary));
    }
    auto graph = GraphOp::create(
        builder, builder.getUnknownLoc(), builder.getStringAttr("main"),
        TypeAttr::get(builder.getFunctionType(types, {})),
        builder.getArrayAttr(SmallVector<mlir::Attribute>(attributes.begin(), attributes.end())),
        /*res_attrs=*/nullptr);
    Block &body = graph.getBody().emplaceBlock();
    builder.setInsertionPointToEnd(&body);
    for (auto [input, type] : llvm::zip(arguments, types))
      nodes.define(input->name(), body.addArgument(type, locationOf(input->name())));
    for (const auto *input : bound)
      bindInput(*input, nodes);
    return graph;
  }

  void bindInput(const ::onnx::ValueInfoProto &input, NodeImporter &nodes) {
    TensorType type = inputType(input, options.dims, &context, problems);
    if (!type)
      return;
    llvm::Expected<DenseElementsAttr> value = boundValue(binds.lookup(input.name()), type);
    if (!value) {
      problems.add("--bind " + input.name() + ": " + toString(value.takeError()));
      return;
    }
    auto constant = ConstantOp::create(builder, locationOf(input.name()), value->getType(), *value);
    constant->setAttr(boundAttribute, builder.getUnitAttr());
    nodes.define(input.name(), constant);
  }

  ArrayAttr stringsOf(ArrayRef<std::string> texts) {
    return builder.getStrArrayAttr(llvm::to_vector_of<StringRef>(texts));
  }

  /// Records the producer of the file, and the listed parameters and buffers.
  void describeGraph(GraphOp graph) {
    if (!model.proto().producer_name().empty())
      graph->setAttr(producerAttribute, builder.getStringAttr(model.proto().producer_name()));
    if (!metadata.listsParameters())
      return;
    graph->setAttr(signatureAttribute, stringsOf(metadata.parameters()));
    if (!metadata.shapes().empty()) {
      auto shapes =
          llvm::map_to_vector(metadata.shapes(), [&](ArrayRef<int64_t> shape) -> Attribute {
            return builder.getDenseI64ArrayAttr(shape);
          });
      graph->setAttr(signatureShapesAttribute, builder.getArrayAttr(shapes));
    }
    if (!metadata.buffers().empty())
      graph->setAttr(buffersAttribute, stringsOf(metadata.buffers()));
  }

  /// Selects between the values of training and of inference that the file lists.
  void selectInferenceValues(GraphOp graph, NodeImporter &nodes) {
    InferenceValues listed = listedInferenceValues(model.proto());
    std::vector<std::string> lost;
    for (const auto &[name, replacement] : listed.values) {
      if (!nodes.whyUnavailable(name).empty())
        continue;
      Value training = nodes.find(name), inference = nodes.find(replacement);
      if (!inference || !isa_and_nonnull<NodeOp>(training ? training.getDefiningOp() : nullptr))
        lost.push_back(quoted(inference ? name : replacement));
      else {
        NodeOp select = selectByMode(builder, training, inference);
        select->setAttr(listedAttribute, builder.getUnitAttr());
        nodes.define(name, select.getResult(0));
      }
    }
    if (listed.isListed && lost.empty())
      graph->setAttr(inferenceListedAttribute, builder.getUnitAttr());
    if (!lost.empty())
      emitWarning(builder.getUnknownLoc())
          << "inference form: the module computes " << lost.size()
          << (lost.size() == 1 ? " value" : " values")
          << " differently in evaluation mode, but the graph has no value " << lost.front()
          << ", so --evaluate and --export compute the training form; compile the file that "
             "mtc.export wrote, before other tools change it";
    if (!listed.values.empty() && !sortTopologically(&graph.getBody().front()))
      problems.add("metadata '" + moduleKey +
                   "': the values in 'inference' depend on themselves; "
                   "export the module again with mtc.export");
  }

  /// Assigns nodes without metadata to the module of their users. The newer exporter writes such
  /// nodes, for example `Split`.
  void describeModules(GraphOp graph) {
    if (!metadata.listsParameters())
      return;
    auto moduleOf = [](Operation *op) { return op->getAttrOfType<StringAttr>(moduleAttribute); };
    for (Operation &op : llvm::reverse(graph.getBody().front())) {
      if (!isa<NodeOp>(op) || moduleOf(&op) || op.hasAttr(fxOperatorAttribute) || op.use_empty())
        continue;
      StringAttr module = moduleOf(*op.user_begin());
      if (module &&
          llvm::all_of(op.getUsers(), [&](Operation *user) { return moduleOf(user) == module; }))
        op.setAttr(moduleAttribute, module);
    }
  }

  /// Marks padding rows of embeddings, which have no gradient. The older exporter does not write
  /// `padding_idx`, so the row of zeros identifies it.
  void describePadding(GraphOp graph) {
    if (metadata.listsParameters() || model.proto().producer_name() != "pytorch")
      return;
    llvm::StringMap<std::optional<int64_t>> rows;
    for (auto gather : graph.getOps<NodeOp>()) {
      auto axis = gather.getNodeAttributes().getAs<IntegerAttr>("axis");
      if (!gather.isOperator("Gather") || gather.getInputs().empty() ||
          (axis && axis.getSInt() != 0))
        continue;
      auto table = gather.getInputs()[0].getDefiningOp<InitializerOp>();
      if (!table)
        continue;
      auto [known, isNew] = rows.try_emplace(table.getName());
      if (isNew) {
        known->second = findZeroRow(model, table.getName());
        if (known->second)
          emitRemark(builder.getUnknownLoc())
              << "row " << *known->second << " of " << quoted(table.getName())
              << " is zero and not trained, as in nn.Embedding(padding_idx=" << *known->second
              << "); export with mtc.export to record padding_idx";
      }
      if (known->second)
        gather->setAttr(paddingAttribute, builder.getI64IntegerAttr(*known->second));
    }
  }

  void describeInitializer(InitializerOp op) {
    StringRef name = op.getName();
    if (StringRef kind = metadata.kindOf(name); !kind.empty())
      op.setKind(kind);
    if (metadata.isFrozen(name))
      op->setAttr(untrainedAttribute, builder.getUnitAttr());
    if (ArrayRef<std::string> names = metadata.namesOf(name); names.size() > 1)
      op->setAttr(aliasesAttribute, stringsOf(names));
    describePretrained(op, metadata.pretrainedTensorsOf(name), problems);
    if (ArrayRef<std::string> origins = metadata.originsOf(name); !origins.empty())
      op->setAttr(foldedFromAttribute, stringsOf(origins));
  }

  void importInitializers(NodeImporter &nodes) {
    InitializerDigests digests(model);
    for (const auto &entry : model.unsupportedInitializers())
      nodes.setUnavailable(entry.getKey(), entry.getValue());
    for (const Initializer &initializer : model.initializers()) {
      RankedTensorType type = llvm::cantFail(model.initializerType(&context, initializer.name));
      bool isMain = initializer.subgraph.positions.empty();
      auto define = [&](Value value) {
        if (isMain)
          nodes.define(initializer.name, value);
        else
          nodes.defineInSubgraph(initializer.tensor, value);
      };
      if (isMain)
        nodes.checkDeclared(initializer.name, type, "initializer " + quoted(initializer.name));
      Location location = locationOf(initializer.name);
      DenseElementsAttr known = knownElements(model, initializer, type);
      bool isUpdated = isMain && metadata.isUpdated(initializer.name);
      if (known && !isFloatingPoint(initializer.dataType) && !isUpdated) {
        auto constant = ConstantOp::create(builder, location, type, known);
        constant->setAttr(initializerAttribute, builder.getStringAttr(initializer.name));
        define(constant);
        continue;
      }
      auto op = InitializerOp::create(builder, location, type, initializer.name);
      op.setMissing(isMissing(initializer));
      if (isMain)
        describeInitializer(op);
      if (isUpdated)
        op->setAttr(updatedAttribute, builder.getUnitAttr());
      digests.add(op);
      if (known)
        op.setSampleAttr(known);
      define(op);
    }
    digests.describe();
  }

  bool isMissing(const Initializer &initializer) {
    return initializer.isExternal &&
           errorToBool(model.initializerBytes(initializer.name).takeError());
  }

  /// Creates the terminator and sets the result types and names. A graph whose nodes were not
  /// imported has no results.
  void finish(GraphOp graph, NodeImporter &nodes, bool hasNodes) {
    SmallVector<Value> results;
    SmallVector<mlir::Attribute> attributes;
    for (const auto &[name, isOptional] : selection.outputs) {
      if (!hasNodes)
        break;
      if (std::string why = nodes.whyUnavailable(name); !why.empty()) {
        if (isOptional)
          emitRemark(builder.getUnknownLoc()) << "the output '" << name << "' is omitted: " << why;
        else
          problems.add(why);
        continue;
      }
      results.push_back(nodes.lookup(name));
      NamedAttrList list;
      list.append("onnx.name", builder.getStringAttr(name));
      if (isOptional)
        list.append(optionalAttribute, builder.getUnitAttr());
      attributes.push_back(list.getDictionary(&context));
    }
    ReturnOp::create(builder, graph.getLoc(), results);
    graph.setFunctionType(builder.getFunctionType(
        graph.getArgumentTypes(), SmallVector<mlir::Type>(ValueRange(results).getTypes())));
    graph.setResAttrsAttr(builder.getArrayAttr(attributes));
    if (results.size() != selection.outputs.size() && hasNodes)
      markUnreadInputs(graph);
  }

  /// Marks inputs that only nodes of omitted outputs read, which are not imported.
  void markUnreadInputs(GraphOp graph) {
    llvm::StringSet<> read;
    for (const auto &node : proto.node())
      for (const std::string &name : node.input())
        read.insert(name);
    for (BlockArgument input : graph.getBody().front().getArguments()) {
      auto name = graph.getArgAttrOfType<StringAttr>(input.getArgNumber(), "onnx.name");
      if (input.use_empty() && name && read.contains(name.getValue()))
        graph.setArgAttr(input.getArgNumber(), optionalAttribute, builder.getUnitAttr());
    }
  }

  Model &model;
  const ::onnx::GraphProto &proto;
  MLIRContext &context;
  const ImportOptions &options;
  Problems &problems;
  OpBuilder builder;
  ExporterMetadata metadata;
  OutputSelection selection;
  StringMap<std::string> binds;
};

} // namespace

OwningOpRef<ModuleOp> importModel(Model &model, MLIRContext &context, const ImportOptions &options,
                                  Problems &problems) {
  context.loadDialect<OnnxDialect>();
  return Importer(model, context, options, problems).run();
}

} // namespace mtc::onnx
