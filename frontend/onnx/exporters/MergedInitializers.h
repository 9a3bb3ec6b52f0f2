//===- MergedInitializers.h - Initializers that represent several parameters ------------------===//

#ifndef MTC_FRONTEND_ONNX_EXPORTERS_MERGEDINITIALIZERS_H
#define MTC_FRONTEND_ONNX_EXPORTERS_MERGEDINITIALIZERS_H

#include "frontend/onnx/parameters/Parameters.h"
#include "frontend/onnx/parameters/Ties.h"

namespace mtc::onnx {

/// An initializer in which the exporter stored several of the module's parameters.
struct MergedInitializer {
  /// A parameter other than the one that keeps the initializer.
  struct Part {
    std::string tensor; // Name in the module; INITIALIZER@MODULE if it is unknown.
    std::vector<mlir::OpOperand *> sites; // The uses of this parameter.
    NodeOp identity;         // If not null, its result is the parameter, and `sites` is empty.
    bool isConstant = false; // A constant of the exporter, not of the module.
  };
  InitializerOp initializer;
  std::vector<Part> parts;
  /// Whether the initializer is a matrix whose values are not all equal and the file does not
  /// specify whether the module ties its parameters. Other shapes are never shared between modules,
  /// and equal values are no evidence of tying.
  bool mayBeTied = false;
};

struct MergedInitializers {
  /// Grouped by the method that found them, and in graph order within a group.
  std::vector<MergedInitializer> initializers;
  /// Notes on initializers that are one weight of several modules.
  std::vector<std::string> notes;
};

/// Finds the initializers of a graph that represent several parameters. `classes` are the classes
/// that the rules assign to initializers.
MergedInitializers findMergedInitializers(GraphOp graph,
                                          const llvm::StringMap<InitializerClass> &classes,
                                          SharedInitializerPolicy policy,
                                          const TieChoices &choices);

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_EXPORTERS_MERGEDINITIALIZERS_H
