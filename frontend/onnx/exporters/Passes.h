//===- Passes.h - Passes that undo rewrites of ONNX exporters ---------------------------------===//

#ifndef MTC_FRONTEND_ONNX_EXPORTERS_PASSES_H
#define MTC_FRONTEND_ONNX_EXPORTERS_PASSES_H

#include "frontend/Parameters.h"
#include "frontend/onnx/dialect/Onnx.h"
#include "frontend/onnx/parameters/Parameters.h"
#include "ir/Mtc.h"

#include "mlir/Pass/Pass.h"

namespace mtc::onnx {

#define GEN_PASS_DECL
#include "frontend/onnx/exporters/Passes.h.inc"

/// Builds the pipeline that chooses the trained parameters of imported graphs. It must run before
/// any pass drops the file's metadata of initializers and nodes.
void buildParametersPipeline(mlir::OpPassManager &manager, const ParameterChoices &choices);

/// Builds the pipeline that recognizes patterns written by exporters. Types must have been
/// inferred.
void buildExportersPipeline(mlir::OpPassManager &manager);

/// Registers the exporters pipeline as `--onnx-undo-exporters`.
void registerExportersPipeline();

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_EXPORTERS_PASSES_H
