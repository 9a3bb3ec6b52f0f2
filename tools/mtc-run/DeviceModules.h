//===- DeviceModules.h - Lowering and printing of gpu modules ---------------------------------===//

#ifndef MTC_TOOLS_MTC_RUN_DEVICEMODULES_H
#define MTC_TOOLS_MTC_RUN_DEVICEMODULES_H

#include "mlir/IR/BuiltinOps.h"

namespace mtc {

/// Returns whether the module contains gpu.modules.
bool hasDeviceModules(mlir::ModuleOp module);

/// Lowers the module's gpu.modules to a stage and prints the result: `asm`, `cubin` (its size) or
/// `resources`, for each architecture of the target.
mlir::LogicalResult printDeviceModules(mlir::ModuleOp module, llvm::StringRef target,
                                       llvm::StringRef stage, unsigned optLevel);

} // namespace mtc

#endif // MTC_TOOLS_MTC_RUN_DEVICEMODULES_H
