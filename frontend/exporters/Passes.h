//===- Passes.h - Passes that undo what exporters do to a model -------------------------------===//

#ifndef MTC_FRONTEND_EXPORTERS_PASSES_H
#define MTC_FRONTEND_EXPORTERS_PASSES_H

#include "frontend/dialect/Onnx.h"

#include "mlir/Pass/Pass.h"

namespace mtc::onnx {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "frontend/exporters/Passes.h.inc"

/// All of these passes over the graphs of a module, in their order; types have been inferred.
void buildExportersPipeline(mlir::OpPassManager &manager);

/// Makes `--onnx-undo-exporters` known, the same as a pipeline of text.
void registerExportersPipeline();

} // namespace mtc::onnx

#endif // MTC_FRONTEND_EXPORTERS_PASSES_H
