//===- Codegen.h - Code generation for allocated programs -------------------------------------===//

#ifndef MTC_CODEGEN_CODEGEN_H
#define MTC_CODEGEN_CODEGEN_H

#include "codegen/program/ProgramFiles.h"
#include "codegen/target/Target.h"
#include "mlir/IR/DialectRegistry.h"

#include <cstddef>
#include <functional>
#include <memory>

namespace mtc {

/// Registers the dialects used during code generation, the targets' dialects, and their
/// translations to LLVM IR. Every context that generates code needs them.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// Compiles an allocated program, or a module with the allocated modules of its pipeline stages in
/// their order, to an archive: two objects with its tables (ProgramTables), and
/// the kernels' objects, named after the kernels and in their order. The result does not depend on
/// the number of threads. Diagnostics are emitted at operations that cannot be compiled. `notify`
/// is that of CodeSources.
mlir::FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
generateCode(mlir::ModuleOp placed, const ProgramFiles &files, Target &target,
             KernelCache *cache = nullptr, std::function<void(size_t, size_t)> notify = {});

/// A program for the JIT.
struct JitCode {
  std::vector<OwnedModule> modules; ///< the kernels' first, the tables last
  Target::Object operations;        ///< of the tables
};

/// Compiles an allocated program to optimized LLVM modules for the JIT, with a global for each step
/// (`stepSymbol`).
mlir::FailureOr<JitCode> generateJitCode(mlir::ModuleOp placed, const ProgramFiles &files,
                                         Target &target);

} // namespace mtc

#endif // MTC_CODEGEN_CODEGEN_H
