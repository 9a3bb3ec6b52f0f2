//===- AddedInitializers.cpp - Initializers that the file does not have -----------------------===//

#include "frontend/onnx/reader/AddedInitializers.h"

#include "frontend/onnx/reader/ExportMessages.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/DenseSet.h"

using namespace llvm;

namespace mtc::onnx {

/// Returns the nodes of the main graph, or of the subgraph at a path of node and attribute indices.
static Nodes &nodesAt(::onnx::GraphProto &graph, ArrayRef<int64_t> positions) {
  Nodes &nodes = *graph.mutable_node();
  return positions.empty() ? nodes : *subgraphAt(nodes, positions).mutable_node();
}

void applyAddedInitializers(::onnx::GraphProto &graph, ArrayRef<AddedInitializer> added) {
  DenseSet<int64_t> erased;
  for (const AddedInitializer &each : added)
    if (each.replaced)
      erased.insert(*each.replaced);
  for (const AddedInitializer &each : added) {
    for (const AddedInitializer::Reader &reader : each.readers) {
      auto &nodes = nodesAt(graph, ArrayRef(reader.node).drop_back());
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

} // namespace mtc::onnx
