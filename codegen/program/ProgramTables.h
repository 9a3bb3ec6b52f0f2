//===- ProgramTables.h - The mtc_program constant ---------------------------------------------===//

#ifndef MTC_CODEGEN_PROGRAM_PROGRAMTABLES_H
#define MTC_CODEGEN_PROGRAM_PROGRAMTABLES_H

#include "codegen/program/ProgramFiles.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace mtc {

class Target;

/// Returns the symbol of a kernel's function. The name is not a C identifier, so it cannot clash.
std::string kernelSymbol(llvm::StringRef kernel);

/// Returns the name of the global MtcFunction by which the JIT looks up a step.
std::string stepSymbol(llvm::StringRef step);

/// Emits `mtc_program` (runtime/abi/program.h) for an allocated program into a new module; the
/// target describes the kernels. With `namedSteps` every step, not only the program's own, has a
/// global named `stepSymbol`. Fails with a diagnostic at an operation that is not valid in a
/// program.
mlir::FailureOr<std::unique_ptr<llvm::Module>>
emitProgramTables(mlir::ModuleOp placed, const ProgramFiles &files, llvm::LLVMContext &context,
                  Target &target, bool namedSteps = false);

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_PROGRAMTABLES_H
