//===- GraphCheck.cpp - Verification of graphs and functions ----------------------------------===//

#include "frontend/onnx/reader/GraphCheck.h"

#include "frontend/onnx/reader/GraphOrder.h"
#include "frontend/onnx/reader/NodeNames.h"
#include "ir/ReservedNames.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ConvertUTF.h"

using namespace llvm;

namespace mtc::onnx {

namespace {

/// The names visible at a node: those of its graph and, in a subgraph, of the enclosing graphs.
struct Scope {
  Scope *outer = nullptr;
  StringSet<> names;
  StringMap<size_t> producers; ///< Maps names to the nodes that define them.
  bool isUnsorted = false;     ///< Whether a node reads a name that a later node defines.

  bool contains(StringRef name) const {
    for (const Scope *scope = this; scope; scope = scope->outer)
      if (scope->names.contains(name))
        return true;
    return false;
  }
};

class Checker {
public:
  Checker(const Nodes &nodes, std::string where, Scope &scope, Problems &problems)
      : nodes(nodes), where(std::move(where)), scope(scope), problems(problems) {}

  void checkNodes() {
    for (auto [index, node] : llvm::enumerate(nodes))
      for (const std::string &output : node.output())
        if (!output.empty())
          defineOutput(output, index);
    for (auto [index, node] : llvm::enumerate(nodes)) {
      std::string label = nodeLabel(node, index) + where;
      if (node.op_type().empty())
        problems.add(label + " has no operator");
      for (const std::string &input : node.input())
        if (!input.empty() && !scope.contains(input))
          reportUndefined(input, label);
      checkAttributes(node, label);
      for (const std::string &output : node.output())
        scope.names.insert(output);
    }
    if (scope.isUnsorted)
      reportCycle();
  }

  void checkOutput(StringRef name) {
    if (!scope.contains(name))
      problems.add("graph output " + quoted(name) + where + " is not defined");
  }

private:
  std::string labelOf(size_t index) const {
    return nodeLabel(nodes[static_cast<int>(index)], index);
  }

  void defineOutput(StringRef name, size_t index) {
    if (scope.names.contains(name)) {
      problems.add(labelOf(index) + where + " defines " + quoted(name) +
                   ", which is already a graph input or an initializer");
      return;
    }
    auto [entry, isNew] = scope.producers.try_emplace(name, index);
    if (!isNew)
      problems.add(labelOf(index) + where + " defines " + quoted(name) + ", which " +
                   labelOf(entry->second) + " already defines");
  }

  void reportUndefined(StringRef name, const std::string &label) {
    for (Scope *defining = &scope; defining; defining = defining->outer)
      if (defining->producers.contains(name)) {
        defining->isUnsorted = true;
        return;
      }
    problems.add(label + " reads " + quoted(name) +
                 ", which is not a graph input, an initializer or a node's output");
  }

  void checkAttributes(const ::onnx::NodeProto &node, const std::string &label) {
    StringSet<> seen;
    for (const ::onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.name().empty())
        problems.add(label + " has an attribute without a name");
      else if (!seen.insert(attribute.name()).second)
        problems.add(label + " has two attributes " + quoted(attribute.name()));
      std::string inside = ", in " + quoted(attribute.name()) + " of " + label;
      if (attribute.has_g())
        checkSubgraph(attribute.g(), inside);
      for (const ::onnx::GraphProto &graph : attribute.graphs())
        checkSubgraph(graph, inside);
    }
  }

  void checkSubgraph(const ::onnx::GraphProto &graph, const std::string &inside);

  /// Nodes are sorted when the file is read, so only a cycle can leave them unsorted.
  void reportCycle() {
    SmallVector<unsigned> cycle = findCycle(nodes);
    if (cycle.empty()) // A redefined name, which has been reported.
      return;
    std::string text = "the graph" + where + " has a cycle: " + labelOf(cycle.front());
    constexpr size_t shown = 8;
    for (unsigned index : ArrayRef(cycle).drop_front().take_front(shown))
      text += " reads from " + labelOf(index);
    if (cycle.size() > shown + 1)
      text += " … (" + std::to_string(cycle.size()) + " nodes)";
    problems.add(text + " reads from " + labelOf(cycle.front()));
  }

  const Nodes &nodes;
  std::string where;
  Scope &scope;
  Problems &problems;
};

void checkGraphIn(const ::onnx::GraphProto &graph, const std::string &where, Scope *outer,
                  Problems &problems) {
  Scope scope;
  scope.outer = outer;
  for (const auto &input : graph.input())
    scope.names.insert(input.name());
  for (const auto &initializer : graph.initializer())
    scope.names.insert(initializer.name());
  for (const auto &initializer : graph.sparse_initializer())
    scope.names.insert(initializer.values().name());
  Checker checker(graph.node(), where, scope, problems);
  checker.checkNodes();
  for (const auto &output : graph.output())
    checker.checkOutput(output.name());
}

void Checker::checkSubgraph(const ::onnx::GraphProto &graph, const std::string &inside) {
  checkGraphIn(graph, inside, &scope, problems);
}

/// Returns why a name cannot be used for tensors in files; empty if it can.
StringRef whyNoTensorName(StringRef name) {
  const auto *begin = reinterpret_cast<const UTF8 *>(name.begin());
  if (name.contains('\0'))
    return "contains a NUL byte";
  if (!isLegalUTF8String(&begin, reinterpret_cast<const UTF8 *>(name.end())))
    return "is not valid UTF-8";
  if (name == "__metadata__")
    return "is the name of the metadata in safetensors files";
  return "";
}

StringRef whyNoName(StringRef name, bool isReserved) {
  StringRef why = whyNoTensorName(name);
  return why.empty() && isReserved ? "is a reserved name in programs" : why;
}

/// Inputs, initializers and outputs keep their names in the program and in its input and output
/// files.
void checkTensorNames(const ::onnx::GraphProto &graph, Problems &problems) {
  auto check = [&](StringRef kind, StringRef name, bool isReserved) {
    if (StringRef why = whyNoName(name, isReserved); !why.empty())
      problems.add(kind + " " + quoted(name) + " " + why + "; rename it in the model");
  };
  for (const auto &input : graph.input())
    check("graph input", input.name(), false);
  for (const auto &initializer : graph.initializer())
    check("initializer", initializer.name(), isReservedSymbol(initializer.name()));
  for (const auto &initializer : graph.sparse_initializer())
    check("initializer", initializer.values().name(),
          isReservedSymbol(initializer.values().name()));
  for (const auto &output : graph.output())
    check("graph output", output.name(), isReservedResult(output.name()));
}

} // namespace

StringRef whyNoOutputName(StringRef name) { return whyNoName(name, isReservedResult(name)); }

void checkGraph(const ::onnx::GraphProto &graph, Problems &problems) {
  checkTensorNames(graph, problems);
  checkGraphIn(graph, "", nullptr, problems);
}

void checkFunction(const ::onnx::FunctionProto &function, Problems &problems) {
  Scope scope;
  std::string where = ", in function " + quoted(function.name());
  for (const std::string &input : function.input())
    if (!scope.names.insert(input).second)
      problems.add("function " + quoted(function.name()) + " has two inputs " + quoted(input));
  Checker checker(function.node(), where, scope, problems);
  checker.checkNodes();
  for (const std::string &output : function.output())
    checker.checkOutput(output);
}

} // namespace mtc::onnx
