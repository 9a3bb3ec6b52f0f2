//===- ExporterMetadata.h - Module information from exporter metadata -------------------------===//
//
// Reads information about the exported module from three sources. The first available source
// defines the parameters:
//   - `mtc.module`, an entry of the model's metadata written by `mtc.export`: JSON, see
//     docs/reference/onnx.md;
//   - PyTorch's newer exporter: the graph signature lists parameters and buffers of the module with
//     their placeholders; a value's metadata contains its kind and the values that it was folded
//     from; a node's metadata contains its FX node with arguments. Keras on PyTorch lists its
//     variables as parameters that no node reads, and the tensors that its layers read as constants
//     `lifted_tensor_N`, which are the actual parameters;
//   - PyTorch's older exporter: nodes are named after the path of their module.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_READER_EXPORTERMETADATA_H
#define MTC_FRONTEND_ONNX_READER_EXPORTERMETADATA_H

#include "frontend/onnx/reader/ModulePaths.h"
#include "frontend/onnx/reader/PretrainedTensors.h"
#include "support/compiler/Problems.h"

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

/// Values of the main graph that a module replaces in inference, each with the name of its
/// replacement, as `mtc.export` lists them.
struct InferenceValues {
  /// Whether the list exists, so that the graph's inference form is that of the module.
  bool isListed = false;
  std::vector<std::pair<std::string, std::string>> values;
};

/// Reads the values from the metadata `mtc.module`. Malformed metadata has no values.
InferenceValues listedInferenceValues(const ::onnx::ModelProto &model);

class ExporterMetadata {
public:
  /// Malformed metadata is added to `problems`, with its key.
  ExporterMetadata(const ::onnx::ModelProto &model, Problems &problems);

  /// Returns whether the file lists the module's parameters.
  bool listsParameters() const { return hasList; }
  /// Return the names of the module's parameters and buffers, in file order.
  const std::vector<std::string> &parameters() const { return parameterNames; }
  const std::vector<std::string> &buffers() const { return bufferNames; }
  /// Returns the shapes of the parameters in the same order; empty if a shape is unknown.
  const std::vector<std::vector<int64_t>> &shapes() const { return parameterShapes; }

  /// Returns the kind of an initializer (PARAMETER, BUFFER, …); empty if unknown.
  llvm::StringRef kindOf(llvm::StringRef initializer) const;
  /// Returns whether the module does not train the initializer (`requires_grad` is False).
  bool isFrozen(llvm::StringRef initializer) const { return frozen.contains(initializer); }
  /// Returns all names of a parameter with several names in the module's state_dict.
  llvm::ArrayRef<std::string> namesOf(llvm::StringRef initializer) const;
  /// Returns the tensors of files of save_pretrained that hold an initializer; empty if they are
  /// those of the module.
  llvm::ArrayRef<PretrainedTensor> pretrainedTensorsOf(llvm::StringRef initializer) const;
  /// Returns the values from which the exporter folded an initializer. Parameters and buffers of
  /// the module have their module names.
  llvm::ArrayRef<std::string> originsOf(llvm::StringRef initializer) const;
  /// Sets the values that `originsOf` returns. `list` is a Python list of strings.
  static void setOrigins(::onnx::ValueInfoProto &initializer, const std::string &list);
  /// Returns the padding index of the embedding table that a Gather reads, whose row has no
  /// gradient. The sources are `mtc.module` and the FX node.
  std::optional<int64_t> paddingIndexOf(const ::onnx::NodeProto &gather) const;

  /// Returns whether the stack trace of a node shows that it was computed without gradients.
  static bool isInNoGrad(const ::onnx::NodeProto &node);
  /// Returns whether an Identity propagates no gradient.
  static bool isDetached(const ::onnx::NodeProto &identity);
  /// Returns the initializer of which an Identity's operand is the new value; empty if none.
  static llvm::StringRef updateOf(const ::onnx::NodeProto &identity);
  /// Returns the setting of which an Identity's operand is the value as compiled; empty if none.
  static llvm::StringRef settingOf(const ::onnx::NodeProto &identity);
  /// Returns whether the module's forward pass updates an initializer, except running statistics of
  /// batch normalizations.
  bool isUpdated(llvm::StringRef initializer) const { return updated.contains(initializer); }
  /// Returns the graph's outputs with new values of initializers, which are not outputs of the
  /// module.
  const llvm::StringSet<> &updateOutputs() const { return newValues; }
  /// Returns warnings about marks of `mtc.export` that nodes lost when a tool changed the file.
  const std::vector<std::string> &lostMarks() const { return lost; }

  /// Returns the label smoothing, in (0, 1], of the FX node that a SoftmaxCrossEntropyLoss
  /// translates; PyTorch's exporter ignores it. Returns nothing if several nodes translate the FX
  /// node, as `mtc.export` generates to compute the smoothing.
  std::optional<double> labelSmoothingOf(const ::onnx::NodeProto &loss) const;

  /// Returns the dotted path of a node's module; empty if unknown.
  std::string modulePathOf(const ::onnx::NodeProto &node) const { return paths.of(node); }
  /// Returns the operator of the node's FX node, such as `aten.linear.default`; empty if unknown.
  static llvm::StringRef operatorOf(const ::onnx::NodeProto &node);
  /// Returns the tensor arguments of the node's FX node: module names for parameters and buffers,
  /// `%NAME` for other values.
  std::vector<std::string> argumentsOf(const ::onnx::NodeProto &node) const;
  /// Returns the rewrite rules that created a node, such as `FuseBatchNormIntoConv`; empty if none.
  static llvm::StringRef rulesOf(const ::onnx::NodeProto &node);

private:
  void readSignature(llvm::StringRef text);
  void adoptVariables(const ::onnx::GraphProto &graph);
  bool readPretrained(llvm::StringRef name, const llvm::json::Object &entry);
  int64_t readModule(llvm::StringRef text, Problems &problems);
  void readLosses(const ::onnx::GraphProto &graph);
  void findLostMarks(const ::onnx::ModelProto &model, int64_t stops);
  void readValues(const ::onnx::GraphProto &graph);

  ModulePaths paths;
  bool hasList = false;
  std::vector<std::string> parameterNames, bufferNames;
  std::vector<std::vector<int64_t>> parameterShapes;
  llvm::StringMap<std::string> placeholders; // Placeholder to module name.
  llvm::StringMap<std::string> kinds;
  llvm::StringMap<std::vector<std::string>> origins, names;
  llvm::StringMap<std::vector<PretrainedTensor>> pretrained;
  llvm::StringMap<int64_t> paddingIndices;
  // FX nodes of cross-entropies, and those that several nodes translate.
  llvm::StringSet<> losses, expandedLosses;
  llvm::StringSet<> frozen, updated, newValues;
  std::vector<std::string> lost;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_READER_EXPORTERMETADATA_H
