//===- TrainingSummary.h - What of a model is trained -----------------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_TRAININGSUMMARY_H
#define MTC_FRONTEND_PARAMETERS_TRAININGSUMMARY_H

#include "frontend/parameters/TrainableConstants.h"

#include "llvm/Support/JSON.h"

namespace mtc::onnx {

/// How much of a model is trained, and how that differs from what the module trains.
struct TrainingSummary {
  size_t trained = 0, parameters = 0; // Initializers that are read by a node.
  int64_t trainedElements = 0, elements = 0;
  /// Elements of constants that look trainable, which are not counted above.
  int64_t constantElements = 0;
  /// Elements of parameters that the module itself does not train, which are counted above.
  int64_t untrainedElements = 0;
  /// Constants that look trainable and are not trained.
  std::vector<TrainableConstant> constants;
  /// Initializers that were taken for moving statistics by how they are used or named.
  std::vector<std::string> movingStatistics;
  /// Parameters that nodes read, but that no output of the graph follows from.
  std::vector<std::string> unreached;
  /// Parameters of the module that nothing in the file stands for although the module computes with
  /// them: the exporter dropped or folded them.
  std::vector<std::string> missing;
  /// Batch normalizations that the exporter folded into convolutions, by module; and weights of
  /// convolutions that it folded with something that the file does not name.
  std::vector<std::string> foldedNorms, foldedConvolutions;
  /// Initializers that the exporter computed from parameters by more than a change of layout: the
  /// computed value is trained in their place.
  std::vector<std::string> computed;
  /// How to export the model so that nothing is lost, for its exporter; may be empty.
  std::string remedy;

  /// Whether less than half of the weights are trained that the module trains, as far as the file
  /// tells.
  bool trainsLessThanHalf() const;
  /// `2 of 3 parameters trained (520 of 648 elements), 1 constant looks trainable`.
  std::string text() const;
  /// That, and what was taken for moving statistics, and is not reached.
  std::vector<std::string> notes() const;
  /// A sentence for each of the other lists that is not empty.
  std::vector<std::string> warnings() const;
  /// `1 539 of about 11.2 M weights are trained: …`, of a summary that trains less than half.
  std::string refusal() const;
  /// {"parameters": 3, "trained_parameters": 2, "elements": 648, "trained_elements": 520,
  /// "looks_trainable": [names of constants], "unreached": [names of parameters],
  /// "missing": [names in the module]}
  llvm::json::Object toJson() const;
};

TrainingSummary summarizeTraining(GraphOp graph, const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_TRAININGSUMMARY_H
