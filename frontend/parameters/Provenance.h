//===- Provenance.h - Which tensor of the module an initializer stands for --------------------===//
//
// The file's metadata tells it where there is any (`frontend/reader/ExporterMetadata.h`): the names
// that the module gives to parameters and buffers, what the exporter folded an initializer from,
// and with which arguments the module called the operator that a node translates. An exporter
// merges equal tensors; the arguments tell them apart.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_PROVENANCE_H
#define MTC_FRONTEND_PARAMETERS_PROVENANCE_H

#include "frontend/parameters/InitializerUses.h"

#include <optional>

namespace mtc::onnx {

class Provenance {
public:
  explicit Provenance(GraphOp graph);

  /// Whether the file lists a parameter, or a buffer, of this name in the module.
  bool isParameter(llvm::StringRef name) const { return parameters.contains(name); }
  bool isBuffer(llvm::StringRef name) const { return buffers.contains(name); }
  /// Whether the module's parameters are variables of Keras, whose names the file does not tell.
  bool hasVariables() const;
  /// Whether the file names the initializer as one of the module's tensors, or says that it was
  /// folded from one.
  bool isOfModule(InitializerOp initializer) const;
  /// The module's tensor that an initializer was split for, where its own name does not tell.
  static llvm::StringRef splitName(InitializerOp initializer);
  /// The module's parameters that an initializer was folded from, in the file's order.
  std::vector<std::string> foldedParameters(InitializerOp initializer) const;
  /// Whether the exporter folded it, and says from what.
  static bool isFolded(InitializerOp initializer) {
    return initializer->hasAttr(foldedFromAttribute);
  }

  /// The module's tensor that an initializer is at one of its uses: a parameter's or buffer's name;
  /// empty if the exporter made it there, such as the scales of ones that a group normalization has
  /// as an instance normalization; nothing if the file does not tell.
  std::optional<std::string> tensorAt(InitializerOp initializer, const InitializerUse &use) const;

private:
  llvm::StringSet<> parameters, buffers;
};

/// The FX operator that a node translates, without `.default` and the like: `aten.linear`.
llvm::StringRef fxOperator(NodeOp node);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_PROVENANCE_H
