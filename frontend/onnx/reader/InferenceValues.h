//===- InferenceValues.h - Values that a module replaces in inference -------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_INFERENCEVALUES_H
#define MTC_FRONTEND_ONNX_READER_INFERENCEVALUES_H

#include "frontend/onnx/dialect/Onnx.h"

#include <optional>
#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class NodeProto;
} // namespace onnx

namespace mtc::onnx {

/// A node with one result, whose inference form is a value that is found as an operand of another
/// node. `slope` is the slope for negative elements, if the form has one. Nodes are paths from the
/// main graph (index of a node, of its attribute, of a node in that subgraph, …).
struct ReplacedNode {
  std::vector<int64_t> node, reader;
  int operand;
  std::optional<float> slope;
};

/// Returns the nodes that passes replace in inference (`mtc.SelectByMode`), without those of
/// functions. Type inference must have run.
std::vector<ReplacedNode> findReplacedNodes(GraphOp graph);

/// Marks of nodes for `toInferenceForm`, as entries of their metadata, until `clear`.
class InferenceMarks {
public:
  /// Marks nodes of the file's graph. `values` lists values of the main graph with the values that
  /// replace them.
  InferenceMarks(::onnx::GraphProto &graph, llvm::ArrayRef<ReplacedNode> nodes,
                 llvm::ArrayRef<std::pair<std::string, std::string>> values);
  /// Removes the marks. Nodes may have moved, but must exist.
  void clear();

  /// A mark of a node: its result `result` becomes `value`.
  struct Mark {
    int result;
    std::string value;
    std::optional<float> slope;
  };
  /// Removes a node's mark and returns it, if there is one.
  static std::optional<Mark> take(::onnx::NodeProto &node);

private:
  void add(::onnx::NodeProto &node, const Mark &mark);

  std::vector<::onnx::NodeProto *> marked;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_INFERENCEVALUES_H
