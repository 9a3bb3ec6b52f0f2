//===- Export.cpp - A model as a file with places for trained weights -------------------------===//
//
// The lengths in protobuf's wire format are known before the weights are, and the order of fields
// is free: the model without its graph, then the graph without its initializers, then each
// initializer as a header followed by its raw data. (protobuf.dev, "Encoding")
//
//===------------------------------------------------------------------------------------------===//

#include "frontend/reader/Export.h"
#include "frontend/reader/InferenceForm.h"
#include "frontend/reader/TensorData.h"

#include "onnx-ml.pb.h"
#include "llvm/Support/LEB128.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

constexpr uint64_t maxModelBytes = INT32_MAX;

/// The tag of a length-delimited field.
constexpr char tagOf(int field) { return static_cast<char>(field << 3 | 2); }

/// The start of a length-delimited field: tag and length.
std::string fieldStart(int field, uint64_t length) {
  std::string text(1, tagOf(field));
  raw_string_ostream stream(text);
  encodeULEB128(length, stream);
  return text;
}

Error tooLarge(uint64_t bytes) {
  return problem("the model with its weights has " + Twine(bytes) +
                 " bytes or more, an ONNX file without external data ends at 2 GiB");
}

/// Everything of a tensor but its elements.
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

/// Takes the external data of tensors in nodes' attributes, of subgraphs too, into the message.
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

/// The graph without its initializers, nothing of which is copied.
::onnx::GraphProto withoutInitializers(const ::onnx::GraphProto &graph) {
  ::onnx::GraphProto copy;
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

/// Lets nodes read what was added, without the nodes that it replaces.
void applyAdded(::onnx::GraphProto &graph, ArrayRef<AddedInitializer> added) {
  DenseSet<int64_t> replaced;
  for (const AddedInitializer &each : added) {
    for (auto [node, operand] : each.readers)
      *graph.mutable_node(static_cast<int>(node))->mutable_input(static_cast<int>(operand)) =
          each.name;
    if (each.replaced)
      replaced.insert(*each.replaced);
    // Lists of values, which may name initializers too.
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
    if (!replaced.contains(i))
      graph.mutable_node()->SwapElements(kept++, i);
  graph.mutable_node()->DeleteSubrange(kept, count - kept);
}

/// An initializer of the exported file, and the tensor that it starts as.
struct Exported {
  std::string name;
  const ::onnx::TensorProto *tensor;
  uint64_t bytes;
};

/// Those of the file, then those that were added.
Expected<std::vector<Exported>> collectInitializers(const Model &model,
                                                    ArrayRef<AddedInitializer> added) {
  std::vector<Exported> all;
  for (const Initializer &initializer : model.initializers())
    all.push_back({initializer.name, model.findTensor(initializer.name), initializer.bytes});
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

/// The model without its graph.
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
  *copy.mutable_training_info() = model.training_info();
  *copy.mutable_functions() = model.functions();
  *copy.mutable_configuration() = model.configuration();
  *copy.mutable_unknown_fields() = model.unknown_fields();
  return copy;
}

/// An initializer as a field of the graph, up to its elements.
std::string initializerStart(const Exported &initializer) {
  std::string header = headerOf(*initializer.tensor, initializer.name).SerializeAsString();
  header += fieldStart(::onnx::TensorProto::kRawDataFieldNumber, initializer.bytes);
  return fieldStart(::onnx::GraphProto::kInitializerFieldNumber,
                    header.size() + initializer.bytes) +
         header;
}

/// Appends an initializer, with the elements that the file has.
Error appendInitializer(std::string &bytes, Model &model, const Exported &initializer) {
  Expected<ArrayRef<char>> data = model.tensorBytes(*initializer.tensor);
  if (!data)
    return problem("initializer " + quoted(initializer.name) + ": " + toString(data.takeError()));
  bytes += initializerStart(initializer);
  bytes.append(data->begin(), data->end());
  return Error::success();
}

/// The beginning of a file, up to the last `rest` bytes of its graph, which follow.
Expected<std::string> headOf(const ::onnx::ModelProto &outer, const std::string &graph,
                             uint64_t rest) {
  std::string bytes = outer.SerializeAsString();
  bytes += fieldStart(::onnx::ModelProto::kGraphFieldNumber, graph.size() + rest);
  uint64_t size = bytes.size() + graph.size() + rest;
  if (size > maxModelBytes)
    return tooLarge(size);
  return bytes + graph;
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
      auto node = use.getOwner()->getAttrOfType<mlir::IntegerAttr>(indexAttribute);
      if (!node)
        continue; // An output, or a node of the compiler's own.
      auto entrance = use.getOwner()->getAttrOfType<mlir::IntegerAttr>(operandAttribute);
      each.readers.push_back(
          {node.getInt(), entrance ? entrance.getInt() : use.getOperandNumber()});
    }
  }
  return added;
}

Expected<std::vector<FileSegment>> exportSegments(Model &model, ArrayRef<AddedInitializer> added,
                                                  const StringSet<> &initializers) {
  auto fail = [](Error error) {
    return problem("export is not possible: " + toString(std::move(error)));
  };
  Expected<std::vector<Exported>> exported = collectInitializers(model, added);
  if (!exported)
    return fail(exported.takeError());
  for (const auto &name : initializers)
    if (llvm::none_of(*exported, [&](const Exported &each) { return each.name == name.getKey(); }))
      return fail(problem("the model has no initializer " + quoted(name.getKey())));

  ::onnx::ModelProto outer = withoutGraph(model.proto());
  ::onnx::GraphProto graph = withoutInitializers(model.proto().graph());
  applyAdded(graph, added);
  NestedTensors nested(model);
  if (Error error = nested.inlineIn(*graph.mutable_node()))
    return fail(std::move(error));
  for (::onnx::FunctionProto &function : *outer.mutable_functions())
    if (Error error = nested.inlineIn(*function.mutable_node()))
      return fail(std::move(error));

  // Before anything large is copied: does all of it fit?
  uint64_t size = outer.ByteSizeLong() + graph.ByteSizeLong();
  for (const Exported &initializer : *exported)
    size += initializer.bytes;
  if (size > maxModelBytes)
    return fail(tooLarge(size));

  ::onnx::ModelProto inferenceOuter = outer;
  ::onnx::GraphProto inferenceGraph = graph;
  InferenceForm inference = toInferenceForm(inferenceOuter, inferenceGraph);
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
  Expected<std::string> head = headOf(outer, graphBytes, sharedSize);
  if (!head)
    return fail(head.takeError());
  std::vector<FileSegment> segments;
  std::string bytes = std::move(*head);
  if (inference.isChanged) {
    Expected<std::string> inferenceHead =
        headOf(inferenceOuter, inferenceGraph.SerializeAsString(), sharedSize);
    if (!inferenceHead)
      return fail(inferenceHead.takeError());
    segments.push_back({std::exchange(bytes, {}), "", 0, ExportForm::Original});
    segments.push_back({std::move(*inferenceHead), "", 0, ExportForm::Inference});
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
