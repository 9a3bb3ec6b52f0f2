//===- ProgramTables.h - The mtc_program constant ---------------------------------------------===//

#ifndef MTC_CODEGEN_PROGRAM_PROGRAMTABLES_H
#define MTC_CODEGEN_PROGRAM_PROGRAMTABLES_H

#include "codegen/program/ProgramFiles.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace mtc {

class Target;

/// Returns the symbol of a kernel's function. The name is not a C identifier, so it cannot clash.
std::string kernelSymbol(llvm::StringRef kernel);

/// Returns the name of the global MtcFunction by which the JIT looks up a step.
std::string stepSymbol(llvm::StringRef step);

/// The tables of a program: the constant `mtc_program` (runtime/abi/program.h), and an object file
/// with the operations of its functions, of which there are many if state is offloaded.
struct ProgramTables {
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::MemoryBuffer> operations;
};

/// Emits the tables of an allocated program; the target describes the kernels. `stages` are the
/// modules of its pipeline stages, which have been aligned (`alignStages`), or its only module.
/// With `namedSteps` every step, not only the program's own, has a global named `stepSymbol`. Fails
/// with a diagnostic at an operation that is not valid in a program.
mlir::FailureOr<ProgramTables> emitProgramTables(llvm::ArrayRef<mlir::ModuleOp> stages,
                                                 const ProgramFiles &files,
                                                 llvm::LLVMContext &context, Target &target,
                                                 bool namedSteps = false);

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_PROGRAMTABLES_H
