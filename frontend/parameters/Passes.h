//===- Passes.h - Passes that choose parameters -----------------------------------------------===//

#ifndef MTC_FRONTEND_PARAMETERS_PASSES_H
#define MTC_FRONTEND_PARAMETERS_PASSES_H

#include "frontend/dialect/Onnx.h"
#include "ir/Mtc.h"

#include "mlir/Pass/Pass.h"

namespace mtc::onnx {

#define GEN_PASS_DECL
#include "frontend/parameters/Passes.h.inc"

} // namespace mtc::onnx

#endif // MTC_FRONTEND_PARAMETERS_PASSES_H
