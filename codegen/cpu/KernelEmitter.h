//===- KernelEmitter.h - Kernels as functions over a range of items ---------------------------===//

#ifndef MTC_CODEGEN_CPU_KERNELEMITTER_H
#define MTC_CODEGEN_CPU_KERNELEMITTER_H

#include "codegen/cpu/LoopPlan.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mtc::cpu {

/// Emits a kernel at the end of `module` as `llvm.func @symbol(ptr operands, i64 begin, i64 end,
/// ptr fault)`, the MtcCpuFunction of the program's ABI: operands are inputs, then outputs. Its
/// body is `scf` loops over `arith` and `math` on vectors, with loads and stores of the `llvm`
/// dialect.
///
/// An output may share its place with an input that is read only at the point being written.
mlir::LLVM::LLVMFuncOp emitKernel(const NormalKernel &kernel, const LoopPlan &plan,
                                  llvm::StringRef symbol, mlir::ModuleOp module);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_KERNELEMITTER_H
