//===- ModulePaths.h - Module paths of nodes --------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_MODULEPATHS_H
#define MTC_FRONTEND_ONNX_READER_MODULEPATHS_H

#include "llvm/ADT/StringSet.h"

#include <string>

namespace onnx {
class GraphProto;
class NodeProto;
} // namespace onnx

namespace mtc::onnx {

/// Maps nodes to the dotted path of their module, as used in parameter names. PyTorch's older
/// exporter writes `/e/e.0_1/MatMul` for the second call of child 0 of the nn.Sequential `e`; the
/// path is `e.0`.
class ModulePaths {
public:
  explicit ModulePaths(const ::onnx::GraphProto &graph);

  /// Returns the module path of a node; empty if unknown.
  std::string of(const ::onnx::NodeProto &node) const;

private:
  /// Collects names from the graph and its subgraphs.
  void collect(const ::onnx::GraphProto &graph);
  /// Returns whether the file has a parameter of that module or of one of its descendants.
  bool isNamed(llvm::StringRef path) const { return named.contains(path); }

  llvm::StringSet<> named;  // Prefixes of initializer names.
  llvm::StringSet<> called; // Scopes of nodes, as written in the file.
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_MODULEPATHS_H
