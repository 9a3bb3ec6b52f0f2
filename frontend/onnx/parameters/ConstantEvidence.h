//===- ConstantEvidence.h - Evidence that an initializer is no parameter ----------------------===//
//
// Files without a list of parameters do not distinguish parameters and constants. Exporters and
// optimizers store literals, buffers and tables as initializers of any shape. The evidence is, in
// this order:
//   1. Use: operands without a gradient, such as scales of Resize; operands that normalize an input
//      of the graph, an epsilon under a root or in a divisor, zeros of an initial state, updates of
//      a Scatter, zero biases of constant filters.
//   2. Value: literals, masks, progressions, windows, Fourier bases, filter banks, tables of whole
//      numbers.
//   3. Name: a module's attribute such as `pixel_mean`.
// Origin decides where these are ambiguous: the TorchScript-based exporter writes the module's
// parameters and buffers under their names and all literals under generated names. Biases, scales
// of normalizations and matrices of contractions need stronger evidence than other operands,
// because modules initialize them by simple values.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_CONSTANTEVIDENCE_H
#define MTC_FRONTEND_ONNX_PARAMETERS_CONSTANTEVIDENCE_H

#include "frontend/onnx/parameters/InitializerUses.h"

#include <optional>

namespace mtc::onnx {

/// Evidence from the uses, the elements and the name of an initializer.
struct Evidence {
  std::string reason;      ///< A noun phrase, such as `an arithmetic or geometric progression`.
  bool isConstant = true;  ///< Or a parameter that could be a constant.
  bool isDoubtful = false; ///< A module may also train such an initializer.
};

/// Examines initializers of a graph whose file does not list the module's parameters.
class ConstantEvidence {
public:
  ConstantEvidence(GraphOp graph, const llvm::StringMap<std::vector<InitializerUse>> &uses);

  /// Returns the evidence on an initializer; nullopt if there is none.
  std::optional<Evidence> find(InitializerOp initializer) const;

private:
  /// Returns the uses of an initializer, looking through casts and changes of layout.
  llvm::SmallVector<InitializerUse> usesOf(InitializerOp initializer) const;
  /// Returns whether the module has a tensor of the initializer's name.
  bool isModuleNamed(InitializerOp initializer) const;
  std::optional<Evidence> findByUse(InitializerOp initializer) const;
  std::optional<Evidence> findByValue(InitializerOp initializer) const;
  std::optional<Evidence> findLiteral(InitializerOp initializer,
                                      llvm::ArrayRef<double> values) const;
  std::optional<Evidence> findPattern(InitializerOp initializer,
                                      llvm::ArrayRef<double> values) const;
  bool isBiasOfConstantFilters(InitializerOp initializer) const;

  const llvm::StringMap<std::vector<InitializerUse>> &uses;
  llvm::StringMap<std::string> normalization;
  bool isPytorch;
};

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_CONSTANTEVIDENCE_H
