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

/// Chooses what is trained in the graphs of a module as they were imported, with all that the file
/// says of initializers and nodes.
void buildParametersPipeline(mlir::OpPassManager &manager, MergedPolicy merged,
                             const ParameterPatterns &patterns);

/// Takes forms that exporters write as what they stand for; types have been inferred.
void buildExportersPipeline(mlir::OpPassManager &manager);

/// Makes `--onnx-undo-exporters` known, the same as a pipeline of text.
void registerExportersPipeline();

} // namespace mtc::onnx

#endif // MTC_FRONTEND_EXPORTERS_PASSES_H
