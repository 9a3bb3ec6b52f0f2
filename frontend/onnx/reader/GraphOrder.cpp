//===- GraphOrder.cpp - Topological order of nodes --------------------------------------------===//

#include "frontend/onnx/reader/GraphOrder.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

template <typename Visit> void forEachSubgraph(const ::onnx::NodeProto &node, Visit visit) {
  for (const ::onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      visit(attribute.g());
    for (const ::onnx::GraphProto &graph : attribute.graphs())
      visit(graph);
  }
}

/// Collects the names that a node reads: its inputs, and the values that its subgraphs capture.
void collectReads(const ::onnx::NodeProto &node, StringSet<> &reads) {
  for (const std::string &input : node.input())
    if (!input.empty())
      reads.insert(input);
  forEachSubgraph(node, [&](const ::onnx::GraphProto &graph) {
    StringSet<> inner, defined;
    for (const auto &input : graph.input())
      defined.insert(input.name());
    for (const auto &initializer : graph.initializer())
      defined.insert(initializer.name());
    for (const auto &initializer : graph.sparse_initializer())
      defined.insert(initializer.values().name());
    for (const ::onnx::NodeProto &other : graph.node()) {
      collectReads(other, inner);
      for (const std::string &output : other.output())
        defined.insert(output);
    }
    for (const auto &output : graph.output())
      inner.insert(output.name());
    for (const auto &entry : inner)
      if (!defined.contains(entry.getKey()))
        reads.insert(entry.getKey());
  });
}

/// Maps each name to the node that defines it.
StringMap<unsigned> findProducers(const Nodes &nodes) {
  StringMap<unsigned> producers;
  for (auto [index, node] : llvm::enumerate(nodes))
    for (const std::string &output : node.output())
      if (!output.empty())
        producers.try_emplace(output, index);
  return producers;
}

/// Returns the producers of each node's operands, in file order.
std::vector<SmallVector<unsigned>> readNodes(const Nodes &nodes) {
  StringMap<unsigned> producers = findProducers(nodes);
  std::vector<SmallVector<unsigned>> result(nodes.size());
  for (auto [index, node] : llvm::enumerate(nodes)) {
    StringSet<> reads;
    collectReads(node, reads);
    SmallVector<unsigned> &sources = result[index];
    for (const auto &entry : reads)
      if (auto found = producers.find(entry.getKey()); found != producers.end())
        sources.push_back(found->second);
    llvm::sort(sources);
    sources.erase(llvm::unique(sources), sources.end());
  }
  return result;
}

/// Traverses the producers of each node depth-first.
struct Walk {
  explicit Walk(const Nodes &nodes) : sources(readNodes(nodes)), states(nodes.size()) {
    for (unsigned index = 0; index < states.size() && cycle.empty(); ++index)
      visit(index);
  }

  SmallVector<unsigned> order; ///< Each node after its producers.
  SmallVector<unsigned> cycle; ///< If not empty, `order` is incomplete.

private:
  enum class State { Unvisited, Active, Done };

  void visit(unsigned start) {
    if (states[start] == State::Done)
      return;
    // A node on the path, and the number of its visited producers.
    SmallVector<std::pair<unsigned, size_t>> path{{start, 0}};
    states[start] = State::Active;
    while (!path.empty()) {
      auto &[index, visited] = path.back();
      if (visited == sources[index].size()) {
        states[index] = State::Done;
        order.push_back(index);
        path.pop_back();
        continue;
      }
      unsigned source = sources[index][visited++];
      if (states[source] == State::Active) {
        auto *begin = llvm::find_if(path, [&](const auto &entry) { return entry.first == source; });
        for (const auto &entry : llvm::make_range(begin, path.end()))
          cycle.push_back(entry.first);
        return;
      }
      if (states[source] == State::Unvisited) {
        states[source] = State::Active;
        path.push_back({source, 0});
      }
    }
  }

  std::vector<SmallVector<unsigned>> sources;
  std::vector<State> states;
};

} // namespace

void sortNodes(Nodes &nodes) {
  for (::onnx::NodeProto &node : nodes)
    for (::onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        sortNodes(*attribute.mutable_g()->mutable_node());
      for (::onnx::GraphProto &graph : *attribute.mutable_graphs())
        sortNodes(*graph.mutable_node());
    }
  Walk walk(nodes);
  if (!walk.cycle.empty() || llvm::is_sorted(walk.order))
    return;
  std::vector<::onnx::NodeProto *> unsorted(nodes.size());
  nodes.ExtractSubrange(0, nodes.size(), unsorted.data());
  for (unsigned index : walk.order)
    nodes.AddAllocated(unsorted[index]);
}

void sortNodes(::onnx::ModelProto &model) {
  sortNodes(*model.mutable_graph()->mutable_node());
  for (::onnx::FunctionProto &function : *model.mutable_functions())
    sortNodes(*function.mutable_node());
}

SmallVector<unsigned> findCycle(const Nodes &nodes) { return Walk(nodes).cycle; }

BitVector findAncestors(const Nodes &nodes, ArrayRef<StringRef> values) {
  StringMap<unsigned> producers = findProducers(nodes);
  std::vector<SmallVector<unsigned>> sources = readNodes(nodes);
  BitVector found(nodes.size());
  SmallVector<unsigned> pending;
  auto visit = [&](unsigned index) {
    if (!found.test(index))
      pending.push_back(index);
    found.set(index);
  };
  for (StringRef value : values)
    if (auto producer = producers.find(value); producer != producers.end())
      visit(producer->second);
  while (!pending.empty())
    for (unsigned source : sources[pending.pop_back_val()])
      visit(source);
  return found;
}

} // namespace mtc::onnx
