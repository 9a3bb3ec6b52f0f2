//===- Parameters.h - Classification of a model's initializers --------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_H
#define MTC_FRONTEND_PARAMETERS_H

#include "frontend/TrainingSummary.h"
#include "ir/Mtc.h"

#include <string>
#include <vector>

namespace mtc {

/// Glob patterns over names of initializers and modules, which override the rules. If `train` is
/// not empty, only matching initializers are trained. If several patterns match, the one with the
/// most literal characters decides; on a tie, `freeze` decides. A full name trains any
/// floating-point constant, a pattern with wildcards only parameters and constants that look
/// trainable. With adapters, only initializers that `train` matches are trained in addition to the
/// adapters.
struct ParameterPatterns {
  std::vector<std::string> train, freeze;
  bool hasAdapters = false;
};

/// The user's choices about a model's parameters, from the command line.
struct ParameterChoices {
  /// How to treat initializers in which the exporter stored several parameters.
  SharedInitializerPolicy merged = SharedInitializerPolicy::Auto;
  /// Initializers to tie (`A=B`) and initializers to untie, by name.
  std::vector<std::string> tie, untie;
  ParameterPatterns patterns;
};

/// Classification of a model's initializers.
struct Parameters {
  struct Row {
    std::string name;
    llvm::SmallVector<int64_t> shape;
    bool isTrained = false;
    std::string role, reason;
    std::string moduleName;      ///< Name in the user's module; empty if it equals `name`.
    bool looksTrainable = false; ///< A constant that is used like a parameter.
    bool isDoubtful = false;     ///< The evidence for the role is weak.
  };
  /// Two initializers of the file that represent the same weight.
  struct Tie {
    std::string name, copy;
    bool hasSameLayout;
  };
  std::vector<Row> initializers; ///< In graph order, without tied copies.
  std::vector<Tie> ties;
  /// Constants that look trainable and are no initializers of the file.
  std::vector<TrainableConstant> constants;
  TrainingSummary training;
};

} // namespace mtc

#endif // MTC_FRONTEND_PARAMETERS_H
