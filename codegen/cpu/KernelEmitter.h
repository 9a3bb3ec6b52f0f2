//===- KernelEmitter.h - Kernels as functions over a range of work items ----------------------===//

#ifndef MTC_CODEGEN_CPU_KERNELEMITTER_H
#define MTC_CODEGEN_CPU_KERNELEMITTER_H

#include "codegen/cpu/LoopPlan.h"
#include "codegen/cpu/TableLookup.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mtc::cpu {

/// Emits a kernel at the end of `module`: for each of its stages a function `llvm.func @symbol(ptr
/// operands, i64 begin, i64 end, ptr fault)`, the MtcCpuFunction of the program's ABI. Operands are
/// the inputs, the outputs, then the scratch buffer. Bodies are `scf` loops over `arith` and `math`
/// on vectors, with loads and stores of the `llvm` dialect.
///
/// `permutations` are the instructions that look up small tables.
///
/// An output may alias an input if each element of the input is read only by the iteration that
/// overwrites it.
void emitKernel(const NormalKernel &kernel, const LoopPlan &plan, llvm::StringRef symbol,
                mlir::ModuleOp module, TablePermutations permutations);

} // namespace mtc::cpu

#endif // MTC_CODEGEN_CPU_KERNELEMITTER_H
