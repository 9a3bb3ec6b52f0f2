//===- ProgramTables.h - The constant mtc_program of an allocated program
//-------------------------===//

#ifndef MTC_CODEGEN_PROGRAM_PROGRAMTABLES_H
#define MTC_CODEGEN_PROGRAM_PROGRAMTABLES_H

#include "codegen/program/ProgramFiles.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace mtc {

class Target;

/// The name in the object file of the function that computes a kernel; no C name is like it.
std::string kernelSymbol(llvm::StringRef kernel);

/// The global of an MtcFunction that the JIT finds a step by.
std::string stepSymbol(llvm::StringRef step);

/// Emits `mtc_program` (runtime/abi/program.h) for an allocated program into a new module; the
/// target describes the kernels. With `namedSteps` every step, not only the
/// program's three, has a global of its own, `stepSymbol`. Fails with a diagnostic at the operation
/// that a program must not hold.
mlir::FailureOr<std::unique_ptr<llvm::Module>>
emitProgramTables(mlir::ModuleOp placed, const ProgramFiles &files, llvm::LLVMContext &context,
                  Target &target, bool namedSteps = false);

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_PROGRAMTABLES_H
