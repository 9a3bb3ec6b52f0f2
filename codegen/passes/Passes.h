//===- Passes.h - Code generation passes ------------------------------------------------------===//

#ifndef MTC_CODEGEN_PASSES_PASSES_H
#define MTC_CODEGEN_PASSES_PASSES_H

#include "ir/Mtc.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mtc {

#define GEN_PASS_DECL
#include "codegen/passes/Passes.h.inc"

} // namespace mtc

#endif // MTC_CODEGEN_PASSES_PASSES_H
