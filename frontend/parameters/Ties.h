//===- Ties.h - Which initializers are one weight of the module -------------------------------===//
//
// Exporters write a weight twice where they fold it in two ways: an output layer that shares the
// embedding's matrix, or a layer that is called twice. Equal elements alone do not make two
// initializers one: the layers of a fresh nn.TransformerEncoder are copies of one layer.
//
//===------------------------------------------------------------------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_TIES_H
#define MTC_FRONTEND_PARAMETERS_TIES_H

#include "frontend/parameters/Parameters.h"

#include <string>
#include <vector>

namespace mtc::onnx {

/// `--tie A=B` and `--untie A`: names of initializers, or of the module's parameters.
struct TieChoices {
  std::vector<std::pair<std::string, std::string>> ties;
  std::vector<std::string> unties;
  /// Nothing else is tied. With adapters weights are frozen, and each copy has an adapter of its
  /// own, as in PEFT.
  bool explicitOnly = false;
};

/// How the elements of one initializer are those of another.
enum class TieForm { Same, Reshaped, Transposed };

struct Tie {
  InitializerOp kept, copy;
  TieForm form;
  std::string reason;
};

struct Ties {
  std::vector<Tie> ties; // `copy` of one is `kept` of none.
  /// Equal initializers of which the file does not tell whether they are one weight.
  std::vector<std::pair<InitializerOp, InitializerOp>> open;
  std::vector<std::string> warnings;
};

/// The ties of a graph, in its order:
///   1. what `choices` say;
///   2. initializers that are, or were folded from, the same parameter that the file lists;
///   3. in files that list no parameters, equal initializers of which one at least has a name that
///      the exporter made, where they are read in different roles (an embedding and an output
///      layer) or by the same module. They are two weights where their modules have other
///      parameters that differ; otherwise the question is open.
/// Equal initializers under two names of the module are two weights. Choices that name nothing, or
/// what cannot be one weight, are problems.
Ties findTies(GraphOp graph, const llvm::StringMap<InitializerClass> &classes,
              const TieChoices &choices, Problems &problems);

/// Whether `--untie` names an initializer.
bool isUntied(const TieChoices &choices, InitializerOp initializer,
              const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_TIES_H
