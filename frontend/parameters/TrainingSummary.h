//===- TrainingSummary.h - What of a model is trained -----------------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_TRAININGSUMMARY_H
#define MTC_FRONTEND_PARAMETERS_TRAININGSUMMARY_H

#include "frontend/parameters/TrainableConstants.h"

#include "llvm/Support/JSON.h"

namespace mtc::onnx {

/// How much of a model is trained, and what of it may have been meant to be.
struct TrainingSummary {
  size_t trained = 0, parameters = 0; // Initializers that are read by a node.
  int64_t trainedElements = 0, elements = 0;
  /// Constants that look trainable and are not trained.
  std::vector<TrainableConstant> constants;
  /// Initializers that were taken for moving statistics by how they are used or named.
  std::vector<std::string> movingStatistics;
  /// Parameters that nodes read, but that no output of the graph follows from.
  std::vector<std::string> unreached;
  /// Parameters of the module that nothing in the file stands for: the exporter dropped them, as it
  /// does with biases of zeros.
  std::vector<std::string> missing;

  /// `2 of 3 parameters trained (520 of 648 elements), 1 constant looks trainable`.
  std::string text() const;
  /// That, and what was taken for moving statistics.
  std::vector<std::string> notes() const;
  /// A sentence for each of `constants`, `unreached` and `missing` that is not empty.
  std::vector<std::string> warnings() const;
  /// {"parameters": 3, "trained_parameters": 2, "elements": 648, "trained_elements": 520,
  /// "looks_trainable": [names of constants], "unreached": [names of parameters],
  /// "missing": [names in the module]}
  llvm::json::Object toJson() const;
};

TrainingSummary summarizeTraining(GraphOp graph, const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_TRAININGSUMMARY_H
