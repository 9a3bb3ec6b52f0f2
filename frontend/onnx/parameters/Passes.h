//===- Passes.h - Passes that choose parameters -----------------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_PARAMETERS_PASSES_H
#define MTC_FRONTEND_ONNX_PARAMETERS_PASSES_H

#include "frontend/onnx/dialect/Onnx.h"
#include "ir/Mtc.h"

#include "mlir/Pass/Pass.h"

namespace mtc::onnx {

#define GEN_PASS_DECL
#include "frontend/onnx/parameters/Passes.h.inc"

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_PARAMETERS_PASSES_H
