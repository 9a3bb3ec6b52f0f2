//===- TrainingSummary.h - Summary of the trained parameters ----------------------------------===//

#ifndef MTC_FRONTEND_TRAININGSUMMARY_H
#define MTC_FRONTEND_TRAININGSUMMARY_H

#include "llvm/Support/JSON.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mtc {

/// A constant of the file that is used like a parameter.
struct TrainableConstant {
  std::string name; // Name of the initializer, or of the Constant node's result.
  std::vector<int64_t> shape;
  std::string moduleName; // The parameter or module that it seems to belong to, or empty.
};

/// The number of trained parameters and elements, and the differences from the module's own
/// training.
struct TrainingSummary {
  size_t trained = 0, parameters = 0; // Initializers used by a node.
  int64_t trainedElements = 0, elements = 0;
  /// Elements of constants that look trainable; not part of the counts above.
  int64_t constantElements = 0;
  /// Elements of parameters that the module does not train; part of the counts above.
  int64_t untrainedElements = 0;
  /// Constants that look trainable and are not trained.
  std::vector<TrainableConstant> constants;
  /// An initializer that evidence shows to be a constant, or a trained one that may be a constant.
  struct Inferred {
    std::string name;
    std::vector<int64_t> shape;
    std::string reason;
  };
  /// Constants by their use, elements or name, without single numbers, whose number is `literals`.
  std::vector<Inferred> leftOut;
  size_t literals = 0;
  /// Trained initializers that may be constants.
  std::vector<Inferred> doubtful;
  /// Initializers classified as moving statistics by use or name.
  std::vector<std::string> movingStatistics;
  /// Parameters that nodes use but on which no output of the graph depends.
  std::vector<std::string> unreached;
  /// Parameters of the module that nothing in the file represents, although the module uses them:
  /// the exporter dropped or folded them.
  std::vector<std::string> missing;
  /// Initializers with generated names that are parameters of the module.
  std::vector<std::string> renamed;
  /// Module paths of batch normalizations that the exporter folded into convolutions, and
  /// convolutions whose weights it folded with tensors that the file does not name.
  std::vector<std::string> foldedNorms, foldedConvolutions;
  /// Initializers that the exporter computed from parameters by more than a change of layout. The
  /// computed values are trained instead of the parameters.
  std::vector<std::string> computed;
  /// How to export the model without these losses; empty if unknown.
  std::string remedy;

  /// Returns whether, as far as known from the file, less than half of the weights that the module
  /// trains are trained.
  bool trainsLessThanHalf() const;
  /// Returns `2 of 3 parameters trained (520 of 648 elements), 1 constant looks trainable`.
  std::string text() const;
  /// Returns notes on constants by evidence, moving statistics, unreached and renamed parameters.
  std::vector<std::string> notes() const;
  /// Returns a warning for each other non-empty list.
  std::vector<std::string> warnings() const;
  /// Returns the error message for a summary that trains less than half:
  /// `only 1 539 of about 11.2 M weights are trained; …`.
  std::string refusal() const;
  /// Returns the summary as JSON:
  /// {"parameters": 3, "trained_parameters": 2, "elements": 648, "trained_elements": 520,
  /// "looks_trainable": [names of constants], "unreached": [names of parameters],
  /// "missing": [names in the module]}
  llvm::json::Object toJson() const;
};

} // namespace mtc

#endif // MTC_FRONTEND_TRAININGSUMMARY_H
