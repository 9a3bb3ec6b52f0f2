//===- GraphOrder.h - Topological order of nodes ----------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_GRAPHORDER_H
#define MTC_FRONTEND_ONNX_READER_GRAPHORDER_H

#include "google/protobuf/repeated_ptr_field.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace onnx {
class ModelProto;
class NodeProto;
} // namespace onnx

namespace mtc::onnx {

using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

/// Sorts the nodes of the main graph, of subgraphs and of functions topologically. Values that a
/// subgraph captures count as operands of its node. The sort is stable: sorted graphs do not
/// change. A graph with a cycle keeps its order.
void sortNodes(::onnx::ModelProto &model);
void sortNodes(Nodes &nodes);

/// Returns the node indices of one cycle, in which each node reads from the next and the last reads
/// from the first; empty if the graph is acyclic.
llvm::SmallVector<unsigned> findCycle(const Nodes &nodes);

/// Returns the nodes that compute the values, directly or through other nodes.
llvm::BitVector findAncestors(const Nodes &nodes, llvm::ArrayRef<llvm::StringRef> values);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_GRAPHORDER_H
