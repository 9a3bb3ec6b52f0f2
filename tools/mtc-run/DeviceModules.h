//===- DeviceModules.h - Written gpu modules through the stages of device code ----------------===//

#ifndef MTC_TOOLS_MTC_RUN_DEVICEMODULES_H
#define MTC_TOOLS_MTC_RUN_DEVICEMODULES_H

#include "mlir/IR/BuiltinOps.h"

namespace mtc {

bool hasDeviceModules(mlir::ModuleOp module);

/// Takes the module's gpu.modules to a stage and prints it: `asm`, `cubin` (its size) or
/// `resources`, for each architecture that the target names.
mlir::LogicalResult printDeviceModules(mlir::ModuleOp module, llvm::StringRef target,
                                       llvm::StringRef stage, unsigned optLevel);

} // namespace mtc

#endif // MTC_TOOLS_MTC_RUN_DEVICEMODULES_H
