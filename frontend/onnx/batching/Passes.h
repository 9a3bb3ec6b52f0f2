//===- Passes.h - Batch axis passes -----------------------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_BATCHING_PASSES_H
#define MTC_FRONTEND_ONNX_BATCHING_PASSES_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mtc::onnx {

#define GEN_PASS_DECL
#include "frontend/onnx/batching/Passes.h.inc"

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_BATCHING_PASSES_H
