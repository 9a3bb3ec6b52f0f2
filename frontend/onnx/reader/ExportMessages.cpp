//===- ExportMessages.cpp - Messages of an exported model -------------------------------------===//

#include "frontend/onnx/reader/ExportMessages.h"

#include "frontend/onnx/reader/WriterMark.h"

using namespace llvm;

namespace mtc::onnx {

Error tooLarge(uint64_t bytes) {
  return problem("the model with its weights has " + Twine(bytes) +
                 " bytes or more; an ONNX file without external data is limited to 2 GiB");
}

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

::onnx::GraphProto &subgraphAt(Nodes &nodes, ArrayRef<int64_t> positions) {
  ::onnx::GraphProto &graph = *nodes[static_cast<int>(positions[0])]
                                   .mutable_attribute(static_cast<int>(positions[1]))
                                   ->mutable_g();
  positions = positions.drop_front(2);
  return positions.empty() ? graph : subgraphAt(*graph.mutable_node(), positions);
}

namespace {

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

} // namespace

Error inlineNestedTensors(Model &model, ::onnx::ModelProto &outer, ::onnx::GraphProto &graph) {
  NestedTensors nested(model);
  if (Error error = nested.inlineIn(*graph.mutable_node()))
    return error;
  for (::onnx::FunctionProto &function : *outer.mutable_functions())
    if (Error error = nested.inlineIn(*function.mutable_node()))
      return error;
  return Error::success();
}

} // namespace mtc::onnx
