//===- Codegen.h - Code for an allocated program
//--------------------------------------------------===//

#ifndef MTC_CODEGEN_CODEGEN_H
#define MTC_CODEGEN_CODEGEN_H

#include "codegen/program/ProgramFiles.h"
#include "codegen/target/Target.h"
#include "mlir/IR/DialectRegistry.h"

namespace mtc {

/// The dialects that code generation goes through, those of the targets, and their translation to
/// LLVM IR. Every context that generates code needs them.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// Compiles an allocated program: an archive of objects, one with the constant `mtc_program` and
/// those of the kernels, in their order and with their names. It does not depend on the number of
/// threads. Diagnostics are at the operations that cannot be compiled.
mlir::FailureOr<std::unique_ptr<llvm::MemoryBuffer>> generateCode(mlir::ModuleOp placed,
                                                                  const ProgramFiles &files,
                                                                  Target &target,
                                                                  KernelCache *cache = nullptr);

/// The same before object code, for the JIT: optimized LLVM modules, kernels first, the tables
/// last, with a global for each step (`stepSymbol`).
mlir::FailureOr<std::vector<OwnedModule>>
generateModules(mlir::ModuleOp placed, const ProgramFiles &files, Target &target);

} // namespace mtc

#endif // MTC_CODEGEN_CODEGEN_H
