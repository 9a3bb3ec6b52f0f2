//===- AddedInitializers.h - Initializers that the file does not have -------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_ADDEDINITIALIZERS_H
#define MTC_FRONTEND_ONNX_READER_ADDEDINITIALIZERS_H

#include "frontend/onnx/dialect/Onnx.h"

#include <optional>
#include <string>
#include <vector>

namespace onnx {
class GraphProto;
} // namespace onnx

namespace mtc::onnx {

/// An initializer that is missing in the file. `readers` read it instead of their original operand.
struct AddedInitializer {
  std::string name;
  std::string source; // Initial value: an initializer or a Constant's result.
  /// A node, as its path from the main graph (index of a node, of its attribute, of a node in that
  /// subgraph, …), and the index of one of its operands.
  struct Reader {
    std::vector<int64_t> node;
    unsigned operand;
  };
  std::vector<Reader> readers;
  std::optional<int64_t> replaced; // Index of the node whose result it replaces.
};

/// Returns the added initializers of a graph, after parameter selection.
std::vector<AddedInitializer> findAddedInitializers(GraphOp graph);

/// Redirects operands of the file's graph to the added initializers, and erases the nodes that they
/// replace.
void applyAddedInitializers(::onnx::GraphProto &graph, llvm::ArrayRef<AddedInitializer> added);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_ADDEDINITIALIZERS_H
