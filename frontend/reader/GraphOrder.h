//===- GraphOrder.h - Topological order of nodes ---------------------------------------------===//

#ifndef MTC_FRONTEND_READER_GRAPHORDER_H
#define MTC_FRONTEND_READER_GRAPHORDER_H

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

/// Sorts the nodes of the main graph, of subgraphs and of functions topologically. A subgraph's
/// reads of outer values count as reads of its node. The sort is stable: a sorted graph does not
/// change. A graph with a cycle keeps its order.
void sortNodes(::onnx::ModelProto &model);

/// The indices of the nodes of one cycle, each of which reads from the next and the last from the
/// first; empty if there is none.
llvm::SmallVector<unsigned> findCycle(const Nodes &nodes);

/// The nodes that values are computed by, directly or through other nodes.
llvm::BitVector findAncestors(const Nodes &nodes, llvm::ArrayRef<llvm::StringRef> values);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_GRAPHORDER_H
