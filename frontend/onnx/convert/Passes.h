//===- Passes.h - Conversion of the onnx dialect to mtc ---------------------------------------===//

#ifndef MTC_FRONTEND_ONNX_CONVERT_PASSES_H
#define MTC_FRONTEND_ONNX_CONVERT_PASSES_H

#include "frontend/onnx/dialect/Onnx.h"
#include "ir/Mtc.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mtc::onnx {

#define GEN_PASS_DECL
#include "frontend/onnx/convert/Passes.h.inc"

} // namespace mtc::onnx

#endif // MTC_FRONTEND_ONNX_CONVERT_PASSES_H
