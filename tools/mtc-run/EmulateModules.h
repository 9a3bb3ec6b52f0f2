//===- EmulateModules.h - Execution of gpu modules in the emulator ----------------------------===//

#ifndef MTC_TOOLS_MTC_RUN_EMULATEMODULES_H
#define MTC_TOOLS_MTC_RUN_EMULATEMODULES_H

#include "codegen/target/Target.h"

namespace mtc {

/// Runs, in order, the kernels of gpu.modules that have the attributes `run.grid` (number of blocks
/// along x, y, z) and `run.parameters`: for each parameter dense elements, or a tensor type for a
/// parameter with undefined contents. Prints each parameter after the kernel, or the error that the
/// emulator detected.
mlir::LogicalResult emulateDeviceModules(mlir::ModuleOp module, unsigned optLevel);

/// Prints the LLVM IR of these kernels.
mlir::LogicalResult printEmulatedModules(mlir::ModuleOp module, unsigned optLevel);

} // namespace mtc

#endif // MTC_TOOLS_MTC_RUN_EMULATEMODULES_H
