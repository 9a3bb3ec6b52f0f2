//===- InferenceValues.cpp - Values that a module replaces in inference -----------------------===//

#include "frontend/onnx/reader/InferenceValues.h"

#include "frontend/onnx/dialect/Modes.h"

#include "onnx-ml.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace llvm;

namespace mtc::onnx {

/// The marks are `RESULT SLOPE VALUE` with an empty slope if there is none.
constexpr StringRef markKey = "mtc.inference_mark";

std::vector<ReplacedNode> findReplacedNodes(GraphOp graph) {
  std::vector<ReplacedNode> nodes;
  for (auto select : graph.getOps<NodeOp>()) {
    auto replaced = select->getAttrOfType<mlir::DenseI64ArrayAttr>(replacedAttribute);
    auto replacement = select->getAttrOfType<mlir::DenseI64ArrayAttr>(replacementAttribute);
    if (!isSelectByMode(select) || !replaced || !replacement)
      continue;
    ReplacedNode &node = nodes.emplace_back();
    node.node = replaced.asArrayRef();
    node.reader = replacement.asArrayRef().drop_back();
    node.operand = static_cast<int>(replacement.asArrayRef().back());
    if (auto slope = select->getAttrOfType<mlir::FloatAttr>(slopeAttribute))
      node.slope = static_cast<float>(slope.getValueAsDouble());
  }
  return nodes;
}

/// Returns the node at a path.
static ::onnx::NodeProto &nodeAt(::onnx::GraphProto &graph, ArrayRef<int64_t> path) {
  ::onnx::NodeProto &node = *graph.mutable_node(static_cast<int>(path[0]));
  if (path.size() == 1)
    return node;
  return nodeAt(*node.mutable_attribute(static_cast<int>(path[1]))->mutable_g(),
                path.drop_front(2));
}

InferenceMarks::InferenceMarks(::onnx::GraphProto &graph, ArrayRef<ReplacedNode> nodes,
                               ArrayRef<std::pair<std::string, std::string>> values) {
  for (const ReplacedNode &node : nodes)
    add(nodeAt(graph, node.node), {0, nodeAt(graph, node.reader).input(node.operand), node.slope});
  StringMap<std::string> replacements;
  for (const auto &[value, replacement] : values)
    replacements[value] = replacement;
  for (::onnx::NodeProto &node : *graph.mutable_node())
    for (auto [i, output] : llvm::enumerate(node.output()))
      if (auto found = replacements.find(output); found != replacements.end())
        add(node, {static_cast<int>(i), found->second, std::nullopt});
}

void InferenceMarks::add(::onnx::NodeProto &node, const Mark &mark) {
  if (llvm::is_contained(marked, &node))
    return; // A pass may replace each iteration of a loop.
  ::onnx::StringStringEntryProto &entry = *node.add_metadata_props();
  entry.set_key(markKey.str());
  entry.set_value(std::to_string(mark.result) + " " +
                  (mark.slope ? llvm::to_string(*mark.slope) : "") + " " + mark.value);
  marked.push_back(&node);
}

void InferenceMarks::clear() {
  for (::onnx::NodeProto *node : marked)
    take(*node);
  marked.clear();
}

std::optional<InferenceMarks::Mark> InferenceMarks::take(::onnx::NodeProto &node) {
  auto &entries = *node.mutable_metadata_props();
  for (int i = 0; i < entries.size(); ++i) {
    if (entries[i].key() != markKey)
      continue;
    auto [result, rest] = StringRef(entries[i].value()).split(' ');
    auto [slope, value] = rest.split(' ');
    Mark mark{0, value.str(), std::nullopt};
    (void)result.getAsInteger(10, mark.result);
    if (double number = 0; !slope.empty() && !slope.getAsDouble(number))
      mark.slope = static_cast<float>(number);
    entries.DeleteSubrange(i, 1);
    return mark;
  }
  return std::nullopt;
}

} // namespace mtc::onnx
