//===- ModulePaths.h - The modules that nodes came from ---------------------------------------===//

#ifndef MTC_FRONTEND_READER_MODULEPATHS_H
#define MTC_FRONTEND_READER_MODULEPATHS_H

#include "llvm/ADT/StringSet.h"

#include <string>

namespace onnx {
class GraphProto;
class NodeProto;
} // namespace onnx

namespace mtc::onnx {

/// The dotted path of each node's module as the module's parameters are named. PyTorch's older
/// exporter writes `/e/e.0_1/MatMul` for the second call of child 0 of the nn.Sequential `e`: that
/// is `e.0`.
class ModulePaths {
public:
  explicit ModulePaths(const ::onnx::GraphProto &graph);

  /// Empty if the node does not tell.
  std::string of(const ::onnx::NodeProto &node) const;

private:
  /// Of subgraphs too.
  void collect(const ::onnx::GraphProto &graph);
  /// Whether the file has a parameter of that module, or one inside it.
  bool isNamed(llvm::StringRef path) const { return named.contains(path); }

  llvm::StringSet<> named;  // Prefixes of initializers' names.
  llvm::StringSet<> called; // Paths of nodes, as they are written.
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_MODULEPATHS_H
