//===- Passes.h - Passes that undo what exporters do to a model -------------------------------===//

#ifndef MTC_FRONTEND_EXPORTERS_PASSES_H
#define MTC_FRONTEND_EXPORTERS_PASSES_H

#include "frontend/dialect/Onnx.h"
#include "frontend/parameters/Parameters.h"
#include "ir/Mtc.h"

#include "mlir/Pass/Pass.h"

namespace mtc::onnx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "frontend/exporters/Passes.h.inc"

/// What the user says of a model's parameters, as the flags have it.
struct ParameterChoices {
  SharedInitializerPolicy merged = SharedInitializerPolicy::Auto;
  std::vector<std::string> tie, untie; // A=B; names.
  ParameterPatterns patterns;
};

/// Chooses what is trained in the graphs of a module as they were imported, with all that the file
/// says of initializers and nodes.
void buildParametersPipeline(mlir::OpPassManager &manager, const ParameterChoices &choices);

/// Takes forms that exporters write as what they stand for; types have been inferred.
void buildExportersPipeline(mlir::OpPassManager &manager);

/// Makes `--onnx-undo-exporters` known, the same as a pipeline of text.
void registerExportersPipeline();

} // namespace mtc::onnx

#endif // MTC_FRONTEND_EXPORTERS_PASSES_H
