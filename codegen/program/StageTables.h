//===- StageTables.h - Common entries of the tables of pipeline stages ------------------------===//

#ifndef MTC_CODEGEN_PROGRAM_STAGETABLES_H
#define MTC_CODEGEN_PROGRAM_STAGETABLES_H

#include "ir/Mtc.h"

#include "mlir/IR/BuiltinOps.h"

namespace mtc {

/// Prepares the allocated modules of a program's pipeline stages for their tables, which must list
/// the same variables and adapters in the same order. Each module gets those of the other stages,
/// without offset. Different variables of equal names, such as constants, and different kernels of
/// equal names are renamed; equal kernels share a name.
void alignStages(llvm::ArrayRef<mlir::ModuleOp> stages);

} // namespace mtc

#endif // MTC_CODEGEN_PROGRAM_STAGETABLES_H
