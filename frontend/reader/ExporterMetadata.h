//===- ExporterMetadata.h - What the file says of the module that it was exported from --------===//
//
// Three sources, the first that is there counts for parameters:
//   - `mtc.module`, an entry of the model's metadata that `mtc.export` writes: JSON, see
//     docs/reference/onnx.md;
//   - PyTorch's newer exporter: the graph's signature lists parameters and buffers of the module
//     with their placeholders; a value's metadata names its kind and the values that the exporter
//     folded it from; a node's metadata holds the FX node that it translates, with its arguments;
//     Keras on PyTorch lists its variables as parameters that no node reads, and what its layers
//     read as constants `lifted_tensor_N`: these are the parameters;
//   - PyTorch's older exporter: nodes are named after the path of their module.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_READER_EXPORTERMETADATA_H
#define MTC_FRONTEND_READER_EXPORTERMETADATA_H

#include "frontend/Problems.h"
#include "frontend/reader/ModulePaths.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>
#include <vector>

namespace onnx {
class GraphProto;
class ModelProto;
class NodeProto;
class ValueInfoProto;
} // namespace onnx

namespace mtc::onnx {

class ExporterMetadata {
public:
  /// Metadata of the wrong form is added to `problems`, named by its key.
  ExporterMetadata(const ::onnx::ModelProto &model, Problems &problems);

  /// Whether the file lists the module's parameters.
  bool listsParameters() const { return hasList; }
  /// The module's parameters and buffers, by their names in the module, in the file's order.
  const std::vector<std::string> &parameters() const { return parameterNames; }
  const std::vector<std::string> &buffers() const { return bufferNames; }

  /// PARAMETER, BUFFER and others, of an initializer; empty if unknown.
  llvm::StringRef kindOf(llvm::StringRef initializer) const;
  /// Whether the module does not train it: `requires_grad` is False.
  bool isFrozen(llvm::StringRef initializer) const { return frozen.contains(initializer); }
  /// All names of the parameter in the module's state_dict where it has several.
  llvm::ArrayRef<std::string> namesOf(llvm::StringRef initializer) const;
  /// The values that the exporter computed an initializer from; those that are the module's have
  /// their names there.
  llvm::ArrayRef<std::string> originsOf(llvm::StringRef initializer) const;
  /// Says so of an initializer, as a Python list of strings.
  static void setOrigins(::onnx::ValueInfoProto &initializer, const std::string &list);
  /// The row of the table that a Gather reads which has no gradient, by what `mtc.module` says of
  /// the table or by the FX node.
  std::optional<int64_t> paddingIndexOf(const ::onnx::NodeProto &gather) const;

  /// The label smoothing of the loss that a SoftmaxCrossEntropyLoss translates, by its FX node:
  /// above 0, at most 1. PyTorch's exporter drops it. Nothing where other nodes translate the FX
  /// node too, as those of `mtc.export`, which compute the smoothing.
  std::optional<double> labelSmoothingOf(const ::onnx::NodeProto &loss) const;

  /// The dotted path of a node's module; empty if unknown.
  std::string modulePathOf(const ::onnx::NodeProto &node) const { return paths.of(node); }
  /// The operator of the FX node that a node translates, `aten.linear.default`; empty if unknown.
  static llvm::StringRef operatorOf(const ::onnx::NodeProto &node);
  /// That FX node's arguments: the module's parameters and buffers by their names there, other
  /// values as `%NAME`.
  std::vector<std::string> argumentsOf(const ::onnx::NodeProto &node) const;
  /// The rewriter's rules that made a node, `FuseBatchNormIntoConv`; empty if none did.
  static llvm::StringRef rulesOf(const ::onnx::NodeProto &node);

private:
  void readSignature(llvm::StringRef text);
  void adoptVariables(const ::onnx::GraphProto &graph);
  void readModule(llvm::StringRef text, Problems &problems);
  void readLosses(const ::onnx::GraphProto &graph);
  void readValues(const ::onnx::GraphProto &graph);

  ModulePaths paths;
  bool hasList = false;
  std::vector<std::string> parameterNames, bufferNames;
  llvm::StringMap<std::string> placeholders; // To the name in the module.
  llvm::StringMap<std::string> kinds;
  llvm::StringMap<std::vector<std::string>> origins, names;
  llvm::StringMap<int64_t> paddingIndices;
  llvm::StringSet<> losses, expandedLosses; // FX nodes of cross-entropies; those of several nodes.
  llvm::StringSet<> frozen;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_READER_EXPORTERMETADATA_H
