//===- ExportLosses.h - Module parameters that an exporter transformed ------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_EXPORTLOSSES_H
#define MTC_FRONTEND_ONNX_PARAMETERS_EXPORTLOSSES_H

#include "frontend/onnx/parameters/Parameters.h"

#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace mtc::onnx {

/// Parameters of the module that the file stores in a transformed way, such that training the file
/// differs from training the module.
struct ExportLosses {
  /// Module paths of batch normalizations that were folded into convolutions.
  std::vector<std::string> norms;
  /// Convolutions whose weight and bias were folded with tensors that the file does not name.
  std::vector<std::string> convolutions;
  /// Initializers computed from parameters by more than a change of layout or an added constant,
  /// such as `'mul' (c.weight_g, c.weight_v)`. In files without parameter names, with the module
  /// that uses them.
  std::vector<std::string> computed;
  /// Parameters of the module that are in one of the lists above, from which an initializer was
  /// folded, or that the module's computation does not use.
  llvm::StringSet<> accounted;
  /// A suggestion for an export without these losses with the file's exporter; empty if there is
  /// none.
  std::string remedy;
};

/// Finds the transformed parameters of an imported graph. `classes` holds the classes of its
/// initializers.
ExportLosses findExportLosses(GraphOp graph, const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_EXPORTLOSSES_H
