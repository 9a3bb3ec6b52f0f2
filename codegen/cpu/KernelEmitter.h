//===- KernelEmitter.h - Kernels as functions over a range of items ---------------------------===//

#ifndef MTC_CODEGEN_CPU_KERNELEMITTER_H
#define MTC_CODEGEN_CPU_KERNELEMITTER_H

#include "codegen/cpu/LoopPlan.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mtc::cpu {

/// Emits a kernel at the end of `module`: one function for each of its stages, `llvm.func
/// @symbol(ptr operands, i64 begin, i64 end, ptr fault)`, the MtcCpuFunction of the program's ABI.
/// Operands are inputs, outputs, then the scratch. Bodies are `scf` loops over `arith` and `math`
/// on vectors, with loads and stores of the `llvm` dialect.
///
/// `permutesTables`: the processor looks up entries of small tables by AVX-512's permutations.
///
/// An output may share its place with an input that is read only at the point being written.
void emitKernel(const NormalKernel &kernel, const LoopPlan &plan, llvm::StringRef symbol,
                mlir::ModuleOp module, bool permutesTables);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_KERNELEMITTER_H
