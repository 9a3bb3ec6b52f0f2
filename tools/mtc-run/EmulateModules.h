//===- EmulateModules.h - Written gpu modules run by the emulator -----------------------------===//

#ifndef MTC_TOOLS_MTC_RUN_EMULATEMODULES_H
#define MTC_TOOLS_MTC_RUN_EMULATEMODULES_H

#include "codegen/target/Target.h"

namespace mtc {

/// Runs, in order, the kernels of gpu.modules that have the attributes `run.grid` (blocks along x,
/// y, z) and `run.parameters`: for each parameter dense elements, or a tensor type where it starts
/// undefined. Prints each parameter afterwards, or what the emulator found wrong.
mlir::LogicalResult emulateDeviceModules(mlir::ModuleOp module, unsigned optLevel);

/// The LLVM IR of the same kernels.
mlir::LogicalResult printEmulatedModules(mlir::ModuleOp module, unsigned optLevel);

} // namespace mtc

#endif // MTC_TOOLS_MTC_RUN_EMULATEMODULES_H
