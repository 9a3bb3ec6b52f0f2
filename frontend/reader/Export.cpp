//===- Export.cpp - Serialization of a model with gaps for trained weights --------------------===//
//
// All lengths in protobuf's wire format are known before the weights are, and the order of fields
// is arbitrary. A file contains the model without its graph, then the graph without its
// initializers, then each initializer as a header followed by its raw data. (protobuf.dev,
// "Encoding")
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/reader/Export.h"
#include "frontend/reader/ExporterMetadata.h"
#include "frontend/reader/InferenceForm.h"
#include "frontend/reader/TensorData.h"
#include "frontend/reader/WriterMark.h"

#include "onnx-ml.pb.h"
#include "llvm/Support/LEB128.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

constexpr uint64_t maxModelBytes = INT32_MAX;

/// Returns the tag of a length-delimited field.
constexpr char tagOf(int field) { return static_cast<char>(field << 3 | 2); }

/// Returns the tag and the length of a length-delimited field.
std::string fieldStart(int field, uint64_t length) {
  std::string text(1, tagOf(field));
  raw_string_ostream stream(text);
  encodeULEB128(length, stream);
  return text;
}

Error tooLarge(uint64_t bytes) {
  return problem("the model with its weights has " + Twine(bytes) +
                 " bytes or more; an ONNX file without external data is limited to 2 GiB");
}

/// Returns a copy of a tensor without its elements.
::onnx::TensorProto headerOf(const ::onnx::TensorProto &tensor, const std::string &name) {
  ::onnx::TensorProto header;
  *header.mutable_dims() = tensor.dims();
  header.set_data_type(tensor.data_type());
  header.set_name(name);
  if (tensor.has_doc_string())
    header.set_doc_string(tensor.doc_string());
  *header.mutable_metadata_props() = tensor.metadata_props();
  return header;
}

/// Replaces external data of tensors in nodes' attributes, including subgraphs, by inline data.
class NestedTensors {
public:
  explicit NestedTensors(Model &model) : model(model) {}

  template <typename Nodes> Error inlineIn(Nodes &nodes) {
    for (::onnx::NodeProto &node : nodes)
      for (::onnx::AttributeProto &attribute : *node.mutable_attribute()) {
        if (attribute.has_t())
          if (Error error = inlineTensor(*attribute.mutable_t(), node.name()))
            return error;
        for (::onnx::TensorProto &tensor : *attribute.mutable_tensors())
          if (Error error = inlineTensor(tensor, node.name()))
            return error;
        if (attribute.has_g())
          if (Error error = inlineGraph(*attribute.mutable_g(), node.name()))
            return error;
        for (::onnx::GraphProto &graph : *attribute.mutable_graphs())
          if (Error error = inlineGraph(graph, node.name()))
            return error;
      }
    return Error::success();
  }

private:
  Error inlineGraph(::onnx::GraphProto &graph, StringRef node) {
    for (::onnx::TensorProto &tensor : *graph.mutable_initializer())
      if (Error error = inlineTensor(tensor, node))
        return error;
    return inlineIn(*graph.mutable_node());
  }

  Error inlineTensor(::onnx::TensorProto &tensor, StringRef node) {
    if (tensor.data_location() != ::onnx::TensorProto::EXTERNAL)
      return Error::success();
    Expected<ArrayRef<char>> bytes = model.tensorBytes(tensor);
    if (!bytes)
      return problem("tensor " + quoted(tensor.name()) + " of node " + quoted(node) + ": " +
                     toString(bytes.takeError()));
    taken += bytes->size();
    if (taken > maxModelBytes)
      return tooLarge(taken);
    tensor.set_raw_data(bytes->data(), bytes->size());
    tensor.clear_external_data();
    tensor.clear_data_location();
    return Error::success();
  }

  Model &model;
  uint64_t taken = 0;
};

/// Returns a copy of the graph without the initializers that the model imports. Their data is not
/// copied.
::onnx::GraphProto withoutInitializers(const Model &model) {
  const ::onnx::GraphProto &graph = model.proto().graph();
  ::onnx::GraphProto copy;
  for (const ::onnx::TensorProto &tensor : graph.initializer())
    if (model.unsupportedInitializers().contains(tensor.name()))
      *copy.add_initializer() = tensor;
  *copy.mutable_node() = graph.node();
  copy.set_name(graph.name());
  *copy.mutable_sparse_initializer() = graph.sparse_initializer();
  if (graph.has_doc_string())
    copy.set_doc_string(graph.doc_string());
  *copy.mutable_input() = graph.input();
  *copy.mutable_output() = graph.output();
  *copy.mutable_value_info() = graph.value_info();
  *copy.mutable_quantization_annotation() = graph.quantization_annotation();
  *copy.mutable_metadata_props() = graph.metadata_props();
  *copy.mutable_unknown_fields() = graph.unknown_fields();
  return copy;
}

using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

/// Returns the subgraph at a non-empty path of node and attribute indices.
::onnx::GraphProto &subgraphAt(Nodes &nodes, ArrayRef<int64_t> positions) {
  ::onnx::GraphProto &graph = *nodes[static_cast<int>(positions[0])]
                                   .mutable_attribute(static_cast<int>(positions[1]))
                                   ->mutable_g();
  positions = positions.drop_front(2);
  return positions.empty() ? graph : subgraphAt(*graph.mutable_node(), positions);
}

Nodes &nodesAt(Nodes &nodes, ArrayRef<int64_t> positions) {
  return positions.empty() ? nodes : *subgraphAt(nodes, positions).mutable_node();
}

/// Redirects operands to the added initializers and erases the nodes that they replace.
void applyAdded(::onnx::GraphProto &graph, ArrayRef<AddedInitializer> added,
                const DenseSet<int64_t> &erased) {
  for (const AddedInitializer &each : added) {
    for (const AddedInitializer::Reader &reader : each.readers) {
      auto &nodes = nodesAt(*graph.mutable_node(), ArrayRef(reader.node).drop_back());
      *nodes[static_cast<int>(reader.node.back())].mutable_input(static_cast<int>(reader.operand)) =
          each.name;
    }
    // Value and input lists may name initializers too.
    for (auto *values : {graph.mutable_value_info(), graph.mutable_input()})
      for (int i = 0, count = values->size(); i < count; ++i)
        if ((*values)[i].name() == each.source && each.name != each.source) {
          ::onnx::ValueInfoProto value = (*values)[i];
          value.set_name(each.name);
          *values->Add() = std::move(value);
        }
  }
  int kept = 0, count = graph.node_size();
  for (int i = 0; i < count; ++i)
    if (!erased.contains(i))
      graph.mutable_node()->SwapElements(kept++, i);
  graph.mutable_node()->DeleteSubrange(kept, count - kept);
}

/// An initializer of the exported file, and the tensor of its initial value.
struct Exported {
  std::string name;
  const ::onnx::TensorProto *tensor;
  uint64_t bytes;
};

/// Returns the initializers of the main graph, followed by the added ones.
Expected<std::vector<Exported>> collectInitializers(const Model &model,
                                                    ArrayRef<AddedInitializer> added) {
  std::vector<Exported> all;
  for (const Initializer &initializer : model.initializers())
    if (initializer.subgraph.positions.empty())
      all.push_back({initializer.name, initializer.tensor, initializer.bytes});
  for (const AddedInitializer &each : added) {
    const ::onnx::TensorProto *tensor = model.findTensor(each.source);
    if (!tensor)
      return problem("the model has no initializer " + quoted(each.source));
    Expected<uint64_t> bytes = checkTensor(*tensor);
    if (!bytes)
      return bytes.takeError();
    all.push_back({each.name, tensor, *bytes});
  }
  return all;
}

/// A byte range of a message that is replaced by a segment's data.
struct Cut {
  size_t offset, size;
  const Initializer *initializer;
};

/// Navigates the fields of a serialized message. (protobuf.dev, "Encoding")
class FieldCursor {
public:
  explicit FieldCursor(StringRef message) : message(message), end(message.size()) {}

  /// Moves to the contents of occurrence `index` (from 0) of the length-delimited field `number`.
  /// The field must exist.
  void enter(int number, int64_t index) {
    size_t next = begin;
    while (true) {
      uint64_t tag = readVarint(next);
      uint64_t size = (tag & 7) == 2 ? readVarint(next) : (tag & 7) == 1 ? 8 : 4;
      if ((tag & 7) == 0) {
        readVarint(next);
        size = 0;
      }
      if (tag >> 3 == static_cast<uint64_t>(number) && index-- == 0) {
        begin = next;
        end = next + size;
        return;
      }
      next += size;
    }
  }

  void enterSubgraph(int nodeField, ArrayRef<int64_t> positions) {
    for (; !positions.empty(); positions = positions.drop_front(2)) {
      enter(nodeField, positions[0]);
      enter(::onnx::NodeProto::kAttributeFieldNumber, positions[1]);
      enter(::onnx::AttributeProto::kGFieldNumber, 0);
      nodeField = ::onnx::GraphProto::kNodeFieldNumber;
    }
  }

  size_t offset() const { return begin; }
  size_t size() const { return end - begin; }

private:
  uint64_t readVarint(size_t &next) const {
    unsigned length = 0;
    uint64_t value = decodeULEB128(message.bytes_begin() + next, &length, message.bytes_end());
    next += length;
    return value;
  }

  StringRef message;
  size_t begin = 0, end;
};

/// Location of a subgraph's tensor in a model's messages: the path of node and attribute indices
/// that starts at a function's nodes or at the main graph's, and the index among the subgraph's
/// initializers.
struct TensorPlace {
  std::optional<int> function;
  std::vector<int64_t> positions;
  int64_t index;
};

/// Locates tensors of subgraphs after nodes were moved, by the addresses of their messages.
class TensorLocator {
public:
  explicit TensorLocator(ArrayRef<const ::onnx::TensorProto *> tensors) : places(tensors.size()) {
    for (auto [i, tensor] : llvm::enumerate(tensors))
      indices[tensor] = i;
  }

  /// Returns the location of each tensor, or nothing if it was erased.
  std::vector<std::optional<TensorPlace>> run(const ::onnx::ModelProto &outer,
                                              const ::onnx::GraphProto &graph) {
    visit(graph.node(), {std::nullopt, {}, 0});
    for (auto [i, function] : llvm::enumerate(outer.functions()))
      visit(function.node(), {static_cast<int>(i), {}, 0});
    return std::move(places);
  }

private:
  void visit(const Nodes &nodes, const TensorPlace &place) {
    for (auto [i, node] : llvm::enumerate(nodes))
      for (auto [j, attribute] : llvm::enumerate(node.attribute())) {
        if (!attribute.has_g())
          continue;
        TensorPlace inner = place;
        inner.positions.push_back(static_cast<int64_t>(i));
        inner.positions.push_back(static_cast<int64_t>(j));
        for (auto [k, tensor] : llvm::enumerate(attribute.g().initializer()))
          if (auto found = indices.find(&tensor); found != indices.end()) {
            inner.index = static_cast<int64_t>(k);
            places[found->second] = inner;
          }
        visit(attribute.g().node(), inner);
      }
  }

  DenseMap<const ::onnx::TensorProto *, size_t> indices;
  std::vector<std::optional<TensorPlace>> places;
};

/// The selected initializers of subgraphs, as parts of the messages that contain them.
class SubgraphInitializers {
public:
  using Places = std::vector<std::optional<TensorPlace>>;

  SubgraphInitializers(const Model &model, const StringSet<> &names) {
    for (const Initializer &initializer : model.initializers())
      if (!initializer.subgraph.positions.empty() && names.contains(initializer.name))
        found.push_back(&initializer);
  }

  /// Replaces the data of each initializer by zeros of the same size. Nodes must have the same
  /// indices as in the file.
  void reserve(::onnx::ModelProto &outer, ::onnx::GraphProto &graph) {
    for (const Initializer *initializer : found) {
      const SubgraphPath &path = initializer->subgraph;
      auto &tensors = *graphAt(outer, graph, path.function, path.positions).mutable_initializer();
      auto tensor = llvm::find_if(tensors, [&](const ::onnx::TensorProto &candidate) {
        return candidate.name() == initializer->tensor->name();
      });
      *tensor = headerOf(*initializer->tensor, initializer->tensor->name());
      tensor->set_raw_data(std::string(initializer->bytes, '\0'));
      reserved.push_back(&*tensor);
    }
  }

  /// Returns the current locations of the reserved tensors.
  Places locate(const ::onnx::ModelProto &outer, const ::onnx::GraphProto &graph) const {
    return TensorLocator(reserved).run(outer, graph);
  }

  /// Refers to the tensors of copies of the messages, located at `places`, from now on.
  void follow(::onnx::ModelProto &outer, ::onnx::GraphProto &graph, const Places &places) {
    for (auto [tensor, place] : llvm::zip(reserved, places))
      tensor = place ? graphAt(outer, graph, place->function, place->positions)
                           .mutable_initializer(static_cast<int>(place->index))
                     : nullptr;
  }

  /// Returns the byte ranges of the tensors' data in one of the two serialized messages.
  std::vector<Cut> find(StringRef message, bool isGraph, const Places &places) const {
    std::vector<Cut> cuts;
    for (auto [initializer, place] : llvm::zip(found, places)) {
      if (!place || isGraph == place->function.has_value())
        continue;
      FieldCursor cursor(message);
      if (!isGraph)
        cursor.enter(::onnx::ModelProto::kFunctionsFieldNumber, *place->function);
      int nodeField = ::onnx::GraphProto::kNodeFieldNumber;
      if (!isGraph)
        nodeField = ::onnx::FunctionProto::kNodeFieldNumber;
      cursor.enterSubgraph(nodeField, place->positions);
      cursor.enter(::onnx::GraphProto::kInitializerFieldNumber, place->index);
      cursor.enter(::onnx::TensorProto::kRawDataFieldNumber, 0);
      cuts.push_back({cursor.offset(), cursor.size(), initializer});
    }
    llvm::sort(cuts, [](const Cut &a, const Cut &b) { return a.offset < b.offset; });
    return cuts;
  }

private:
  static ::onnx::GraphProto &graphAt(::onnx::ModelProto &outer, ::onnx::GraphProto &graph,
                                     std::optional<int> function, ArrayRef<int64_t> positions) {
    Nodes &nodes =
        function ? *outer.mutable_functions(*function)->mutable_node() : *graph.mutable_node();
    return subgraphAt(nodes, positions);
  }

  std::vector<const Initializer *> found;
  std::vector<::onnx::TensorProto *> reserved; // Tensors of the messages, with zeros as data.
};

/// Returns a copy of the model without its graph, marked as written by mtc.
::onnx::ModelProto withoutGraph(const ::onnx::ModelProto &model) {
  ::onnx::ModelProto copy;
  copy.set_ir_version(model.ir_version());
  *copy.mutable_opset_import() = model.opset_import();
  if (model.has_producer_name())
    copy.set_producer_name(model.producer_name());
  if (model.has_producer_version())
    copy.set_producer_version(model.producer_version());
  if (model.has_domain())
    copy.set_domain(model.domain());
  if (model.has_model_version())
    copy.set_model_version(model.model_version());
  if (model.has_doc_string())
    copy.set_doc_string(model.doc_string());
  *copy.mutable_metadata_props() = model.metadata_props();
  markAsWritten(copy);
  *copy.mutable_training_info() = model.training_info();
  *copy.mutable_functions() = model.functions();
  *copy.mutable_configuration() = model.configuration();
  *copy.mutable_unknown_fields() = model.unknown_fields();
  return copy;
}

/// Serializes an initializer as a field of the graph, without its elements.
std::string initializerStart(const Exported &initializer) {
  std::string header = headerOf(*initializer.tensor, initializer.name).SerializeAsString();
  header += fieldStart(::onnx::TensorProto::kRawDataFieldNumber, initializer.bytes);
  return fieldStart(::onnx::GraphProto::kInitializerFieldNumber,
                    header.size() + initializer.bytes) +
         header;
}

/// Appends an initializer with the data in the file.
Error appendInitializer(std::string &bytes, Model &model, const Exported &initializer) {
  Expected<ArrayRef<char>> data = model.tensorBytes(*initializer.tensor);
  if (!data)
    return problem("initializer " + quoted(initializer.name) + ": " + toString(data.takeError()));
  bytes += initializerStart(initializer);
  bytes.append(data->begin(), data->end());
  return Error::success();
}

/// Returns the segments of `form` from the beginning of the file to the graph's last `rest` bytes,
/// which the caller appends. The last segment has no data.
Expected<std::vector<FileSegment>> headSegments(const ::onnx::ModelProto &outer,
                                                const std::string &graph, uint64_t rest,
                                                const SubgraphInitializers &inSubgraphs,
                                                const SubgraphInitializers::Places &places,
                                                ExportForm form) {
  std::string bytes = outer.SerializeAsString();
  std::vector<Cut> cuts = inSubgraphs.find(bytes, /*isGraph=*/false, places);
  bytes += fieldStart(::onnx::ModelProto::kGraphFieldNumber, graph.size() + rest);
  for (Cut cut : inSubgraphs.find(graph, /*isGraph=*/true, places)) {
    cut.offset += bytes.size();
    cuts.push_back(cut);
  }
  bytes += graph;
  if (bytes.size() + rest > maxModelBytes)
    return tooLarge(bytes.size() + rest);
  std::vector<FileSegment> segments;
  size_t begin = 0;
  for (const Cut &cut : cuts) {
    segments.push_back({bytes.substr(begin, cut.offset - begin), cut.initializer->name,
                        cut.initializer->dataType, form});
    begin = cut.offset + cut.size;
  }
  segments.push_back({bytes.substr(begin), "", 0, form});
  return segments;
}

} // namespace

std::vector<AddedInitializer> findAddedInitializers(GraphOp graph) {
  std::vector<AddedInitializer> added;
  for (auto initializer : graph.getOps<InitializerOp>()) {
    auto index = initializer->getAttrOfType<mlir::IntegerAttr>(indexAttribute);
    if (!initializer.getSplitFrom() && !index)
      continue;
    AddedInitializer &each = added.emplace_back();
    each.name = initializer.getName();
    each.source = initializer.getSource();
    if (index) {
      each.replaced = index.getInt();
      continue;
    }
    for (mlir::OpOperand &use : initializer->getUses()) {
      mlir::Operation *user = use.getOwner();
      std::vector<int64_t> node;
      if (auto position = user->getAttrOfType<mlir::IntegerAttr>(indexAttribute))
        node = {position.getInt()};
      else if (auto path = user->getAttrOfType<mlir::DenseI64ArrayAttr>(pathAttribute))
        node = path.asArrayRef();
      else
        continue; // The user is an output or a node that the compiler created.
      auto entrance = user->getAttrOfType<mlir::IntegerAttr>(operandAttribute);
      auto operand = entrance ? static_cast<unsigned>(entrance.getInt()) : use.getOperandNumber();
      each.readers.push_back({std::move(node), operand});
    }
  }
  return added;
}

Expected<std::vector<FileSegment>> exportSegments(Model &model, ArrayRef<AddedInitializer> added,
                                                  const StringSet<> &initializers,
                                                  ArrayRef<ReplacedNode> replaced) {
  auto fail = [](Error error) {
    return problem("export is not possible: " + toString(std::move(error)));
  };
  Expected<std::vector<Exported>> exported = collectInitializers(model, added);
  if (!exported)
    return fail(exported.takeError());
  for (const auto &name : initializers)
    if (!model.findInitializer(name.getKey()) &&
        llvm::none_of(*exported, [&](const Exported &each) { return each.name == name.getKey(); }))
      return fail(problem("the model has no initializer " + quoted(name.getKey())));

  ::onnx::ModelProto outer = withoutGraph(model.proto());
  ::onnx::GraphProto graph = withoutInitializers(model);
  SubgraphInitializers inSubgraphs(model, initializers);
  inSubgraphs.reserve(outer, graph);
  InferenceMarks marks(graph, replaced, listedInferenceValues(model.proto()).values);
  DenseSet<int64_t> erased;
  for (const AddedInitializer &each : added)
    if (each.replaced)
      erased.insert(*each.replaced);
  applyAdded(graph, added, erased);
  NestedTensors nested(model);
  if (Error error = nested.inlineIn(*graph.mutable_node()))
    return fail(std::move(error));
  for (::onnx::FunctionProto &function : *outer.mutable_functions())
    if (Error error = nested.inlineIn(*function.mutable_node()))
      return fail(std::move(error));

  // Check the size before copying large data.
  uint64_t size = outer.ByteSizeLong() + graph.ByteSizeLong();
  for (const Exported &initializer : *exported)
    size += initializer.bytes;
  if (size > maxModelBytes)
    return fail(tooLarge(size));

  SubgraphInitializers::Places places = inSubgraphs.locate(outer, graph);
  ::onnx::ModelProto inferenceOuter = outer;
  ::onnx::GraphProto inferenceGraph = graph;
  marks.clear();
  inSubgraphs.follow(inferenceOuter, inferenceGraph, places);
  // Add initializers by name only, so that the inference form can report the unread ones.
  for (const Exported &each : *exported)
    inferenceGraph.add_initializer()->set_name(each.name);
  InferenceForm inference = toInferenceForm(inferenceOuter, inferenceGraph);
  inferenceGraph.clear_initializer();
  std::vector<Exported> shared, ofTraining;
  for (const Exported &each : *exported) {
    bool isShared = initializers.contains(each.name) || !inference.unread.contains(each.name);
    (isShared ? shared : ofTraining).push_back(each);
  }
  SmallVector<std::string> starts = llvm::map_to_vector(shared, initializerStart);
  uint64_t sharedSize = 0;
  for (auto [start, initializer] : llvm::zip(starts, shared))
    sharedSize += start.size() + initializer.bytes;

  std::string graphBytes = graph.SerializeAsString();
  for (const Exported &initializer : ofTraining)
    if (Error error = appendInitializer(graphBytes, model, initializer))
      return fail(std::move(error));
  Expected<std::vector<FileSegment>> head =
      headSegments(outer, graphBytes, sharedSize, inSubgraphs, places,
                   inference.isChanged ? ExportForm::Original : ExportForm::Every);
  if (!head)
    return fail(head.takeError());
  std::vector<FileSegment> segments = std::move(*head);
  std::string bytes;
  if (inference.isChanged) {
    Expected<std::vector<FileSegment>> inferenceHead =
        headSegments(inferenceOuter, inferenceGraph.SerializeAsString(), sharedSize, inSubgraphs,
                     inSubgraphs.locate(inferenceOuter, inferenceGraph), ExportForm::Inference);
    if (!inferenceHead)
      return fail(inferenceHead.takeError());
    std::move(inferenceHead->begin(), inferenceHead->end(), std::back_inserter(segments));
  } else {
    // Shared bytes are appended to the last segment.
    bytes = std::move(segments.back().bytes);
    segments.pop_back();
  }
  for (auto [start, initializer] : llvm::zip(starts, shared)) {
    if (initializers.contains(initializer.name)) {
      segments.push_back(
          {std::exchange(bytes, {}) + start, initializer.name, initializer.tensor->data_type()});
      continue;
    }
    if (Error error = appendInitializer(bytes, model, initializer))
      return fail(std::move(error));
  }
  if (!bytes.empty() || segments.empty())
    segments.push_back({std::move(bytes), ""});
  return segments;
}

} // namespace mtc::onnx
