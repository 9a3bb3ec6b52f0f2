//===- SubgraphInitializers.h - Data of subgraphs' initializers in an exported model ----------===//

#ifndef MTC_FRONTEND_ONNX_READER_SUBGRAPHINITIALIZERS_H
#define MTC_FRONTEND_ONNX_READER_SUBGRAPHINITIALIZERS_H

#include "frontend/onnx/reader/Model.h"

#include "llvm/ADT/StringSet.h"

#include <optional>
#include <vector>

namespace onnx {
class GraphProto;
class ModelProto;
class TensorProto;
} // namespace onnx

namespace mtc::onnx {

/// A byte range of a message that is replaced by a segment's data.
struct Cut {
  size_t offset, size;
  const Initializer *initializer;
};

/// Location of a subgraph's tensor in the messages of a model. It consists of the path of node and
/// attribute indices, which starts at the nodes of a function or of the main graph, and of the
/// index among the subgraph's initializers.
struct TensorPlace {
  std::optional<int> function;
  std::vector<int64_t> positions;
  int64_t index;
};

/// The selected initializers of subgraphs, as parts of the messages that contain them.
class SubgraphInitializers {
public:
  using Places = std::vector<std::optional<TensorPlace>>;

  SubgraphInitializers(const Model &model, const llvm::StringSet<> &names);

  /// Replaces the data of each initializer by zeros of the same size. Nodes must have the same
  /// indices as in the file.
  void reserve(::onnx::ModelProto &outer, ::onnx::GraphProto &graph);

  /// Returns the current locations of the reserved tensors.
  Places locate(const ::onnx::ModelProto &outer, const ::onnx::GraphProto &graph) const;

  /// Makes the object refer to the tensors of copies of the messages, located at `places`.
  void follow(::onnx::ModelProto &outer, ::onnx::GraphProto &graph, const Places &places);

  /// Returns the byte ranges of the tensors' data in one of the two serialized messages.
  std::vector<Cut> find(llvm::StringRef message, bool isGraph, const Places &places) const;

private:
  std::vector<const Initializer *> found;
  std::vector<::onnx::TensorProto *> reserved; // Tensors of the messages, with zeros as data.
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_SUBGRAPHINITIALIZERS_H
