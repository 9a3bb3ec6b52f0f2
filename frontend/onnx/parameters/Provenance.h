//===- Provenance.h - Mapping of initializers to the module's tensors -------------------------===//
//
// Uses the file's metadata (`frontend/onnx/reader/ExporterMetadata.h`): the names of the module's
// parameters and buffers, the values from which the exporter folded an initializer, and the
// arguments of the FX node that a node translates. Exporters merge equal tensors; the arguments
// distinguish them.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_PROVENANCE_H
#define MTC_FRONTEND_ONNX_PARAMETERS_PROVENANCE_H

#include "frontend/onnx/parameters/InitializerUses.h"

#include <optional>

namespace mtc::onnx {

/// Maps initializers of a graph to parameters and buffers of the module. Must be constructed before
/// the metadata is dropped.
class Provenance {
public:
  explicit Provenance(GraphOp graph);

  /// Returns whether the file lists a parameter or a buffer of this name in the module.
  bool isParameter(llvm::StringRef name) const { return parameters.contains(name); }
  bool isBuffer(llvm::StringRef name) const { return buffers.contains(name); }
  /// Returns whether the module's parameters are Keras variables, whose names are not in the file.
  bool hasVariables() const;
  /// Returns whether the file names the initializer as one of the module's tensors, or states that
  /// it was folded from one of them.
  bool isOfModule(InitializerOp initializer) const;
  /// Returns the module's tensor for which an initializer was split, if its own name differs.
  static llvm::StringRef splitName(InitializerOp initializer);
  /// Returns the module's parameters from which an initializer was folded, in file order.
  std::vector<std::string> foldedParameters(InitializerOp initializer) const;
  /// Returns whether the exporter folded the initializer and recorded its origins.
  static bool isFolded(InitializerOp initializer) {
    return initializer->hasAttr(foldedFromAttribute);
  }

  /// Returns whether an initializer has the elements of the module's tensor that it represents, up
  /// to their layout. A folded `exp(w)` or `1 + w` has other elements.
  bool keepsValues(InitializerOp initializer) const;

  /// Returns the module's parameter or buffer that an initializer represents at one of its uses.
  /// Returns an empty string if the exporter created the operand, such as the scale of ones of a
  /// group normalization exported as an instance normalization, and nullopt if it is unknown.
  std::optional<std::string> tensorAt(InitializerOp initializer, const InitializerUse &use) const;

private:
  llvm::StringSet<> parameters, buffers;
};

/// Returns the FX operator that a node translates, without its overload (`.default`):
/// `aten.linear`.
llvm::StringRef fxOperator(NodeOp node);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_PROVENANCE_H
