//===- RenamedParameters.h - Parameters under generated names ---------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_RENAMEDPARAMETERS_H
#define MTC_FRONTEND_ONNX_PARAMETERS_RENAMEDPARAMETERS_H

#include "frontend/onnx/parameters/Parameters.h"

#include <vector>

namespace mtc::onnx {

/// Parameters of one shape, up to a transposition, whose initializers were renamed. `parameters`
/// are listed in the file, but no initializer has their names; `initializers` are trained, but an
/// exporter or an optimizer generated their names. onnxruntime folds the transpositions that
/// `mtc.export` writes, and drops the metadata of nodes, which would name the parameters.
struct RenamedParameters {
  std::vector<std::string> parameters;
  std::vector<InitializerOp> initializers; ///< In graph order.

  /// Returns whether there are more initializers than parameters, so that some are copies.
  bool hasCopies() const { return initializers.size() > parameters.size(); }
  /// Returns whether each parameter has an initializer.
  bool isComplete() const { return initializers.size() >= parameters.size(); }
};

/// Returns the groups that have both parameters and initializers. Empty if the file does not list
/// the shapes of parameters.
std::vector<RenamedParameters>
findRenamedParameters(GraphOp graph, const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_RENAMEDPARAMETERS_H
