//===- Ties.h - Detection of tied initializers ------------------------------------------------===//
//
// Exporters store a weight twice if they fold it in two ways, for example if an output layer shares
// the embedding's matrix or a layer is called twice. Equal elements are not sufficient evidence:
// the layers of an untrained nn.TransformerEncoder are copies of one layer, but distinct
// parameters.
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_TIES_H
#define MTC_FRONTEND_ONNX_PARAMETERS_TIES_H

#include "frontend/onnx/parameters/Parameters.h"

#include <string>
#include <vector>

namespace mtc::onnx {

/// The flags `--tie A=B`, `--tie equal` and `--untie A`; names are those of initializers or of the
/// module's parameters.
struct TieChoices {
  std::vector<std::pair<std::string, std::string>> ties;
  std::vector<std::string> unties;
  /// Whether to tie all parameters with equal elements.
  bool equal = false;
  /// Whether to tie only initializers that the flags name. With adapters, weights are frozen and
  /// each copy has its own adapter, as in PEFT.
  bool explicitOnly = false;
};

/// The relation between the elements of the kept initializer and its copy.
enum class TieForm { Same, Reshaped, Transposed };

/// A copy to be replaced by the kept initializer.
struct Tie {
  InitializerOp kept, copy;
  TieForm form;
  std::string reason; // Empty for ties because of `TieChoices::equal`.
};

/// The ties of a graph, and initializers whose relation could not be decided.
struct Ties {
  std::vector<Tie> ties; // The copy of one tie is never the kept one of another.
  /// Equal initializers that the file does not identify as one weight or as two.
  std::vector<std::pair<InitializerOp, InitializerOp>> open;
  /// Equal initializers that are trained separately, because the file names both or their modules
  /// have other, distinct parameters.
  std::vector<std::pair<InitializerOp, InitializerOp>> separate;
  /// With `TieChoices::equal`: initializers of one value each, such as zeros, that equal another
  /// one. Their values are no evidence of a tie.
  std::vector<InitializerOp> ofOneValue;
  std::vector<std::string> warnings;
};

/// Finds the ties of a graph, in graph order:
///   1. the pairs in `choices`;
///   2. initializers that are, or were folded from, the same listed parameter;
///   3. with `TieChoices::equal`, initializers with equal elements that are not all the same;
///   4. otherwise, in files without a parameter list, initializers with equal elements, at least
///   one
///      of which has a generated name, if they are used as different operands (of an embedding and
///      an output layer), by the same module, or by two modules whose other parameters differ. They
///      are two weights if the other parameters of their modules are equal too, as in copies of a
///      layer. All other such pairs are reported as open.
/// Without `TieChoices::equal`, equal initializers with two names of the module are two weights.
/// Choices that name no parameter, or two parameters that cannot be tied, are errors.
Ties findTies(GraphOp graph, const llvm::StringMap<InitializerClass> &classes,
              const TieChoices &choices, Problems &problems);

/// Returns whether `--untie` names an initializer.
bool isUntied(const TieChoices &choices, InitializerOp initializer,
              const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_TIES_H
