//===- Passes.h - Passes over the onnx dialect ------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_INFERENCE_PASSES_H
#define MTC_FRONTEND_ONNX_INFERENCE_PASSES_H

#include "frontend/onnx/dialect/Onnx.h"

#include "mlir/Pass/Pass.h"

namespace mtc::onnx {

#define GEN_PASS_DECL
#include "frontend/onnx/inference/Passes.h.inc"

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_INFERENCE_PASSES_H
