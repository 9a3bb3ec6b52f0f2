//===- ExportMessages.h - Messages of an exported model ---------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_EXPORTMESSAGES_H
#define MTC_FRONTEND_ONNX_READER_EXPORTMESSAGES_H

#include "frontend/onnx/reader/Model.h"

#include "onnx-ml.pb.h"

namespace mtc::onnx {

using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

/// The limit of a file without external data, which protobuf sets.
inline constexpr uint64_t maxModelBytes = INT32_MAX;

/// Returns an error for a model of at least this size.
llvm::Error tooLarge(uint64_t bytes);

/// Returns a copy of the model without its graph, marked as written by mtc.
::onnx::ModelProto withoutGraph(const ::onnx::ModelProto &model);

/// Returns a copy of the graph without the initializers that the model imports. Their data is not
/// copied.
::onnx::GraphProto withoutInitializers(const Model &model);

/// Returns a copy of a tensor without its elements.
::onnx::TensorProto headerOf(const ::onnx::TensorProto &tensor, const std::string &name);

/// Returns the subgraph at a non-empty path of node and attribute indices.
::onnx::GraphProto &subgraphAt(Nodes &nodes, llvm::ArrayRef<int64_t> positions);

/// Replaces external data of tensors in nodes' attributes, including subgraphs and functions, by
/// inline data.
llvm::Error inlineNestedTensors(Model &model, ::onnx::ModelProto &outer, ::onnx::GraphProto &graph);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_EXPORTMESSAGES_H
