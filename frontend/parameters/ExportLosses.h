//===- ExportLosses.h - What an exporter computed away ----------------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_EXPORTLOSSES_H
#define MTC_FRONTEND_PARAMETERS_EXPORTLOSSES_H

#include "frontend/parameters/Parameters.h"

#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace mtc::onnx {

/// What the module trains and the file holds in another form, so that training differs.
struct ExportLosses {
  /// Modules of batch normalizations that were folded into convolutions.
  std::vector<std::string> norms;
  /// Convolutions whose weight and bias were folded with something that the file does not name.
  std::vector<std::string> convolutions;
  /// Initializers that were computed from parameters by more than a change of layout or a shift:
  /// `'mul' (c.weight_g, c.weight_v)`; of a file without the parameters' names with the module that
  /// reads them.
  std::vector<std::string> computed;
  /// Parameters of the module that are in one of these, that an initializer was folded from, or
  /// that the module does not compute with.
  llvm::StringSet<> accounted;
  /// How to export without these losses, for the file's exporter; empty where that is not known.
  std::string remedy;
};

ExportLosses findExportLosses(GraphOp graph, const llvm::StringMap<InitializerClass> &classes);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_EXPORTLOSSES_H
