//===- Hardware.h - Properties of GPUs that kernels depend on ---------------------------------===//

#ifndef MTC_CODEGEN_GPU_HARDWARE_H
#define MTC_CODEGEN_GPU_HARDWARE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mtc::gpu {

/// A target specifies these properties once for all of its GPUs, because the plan of a kernel does
/// not depend on the device.
struct Hardware {
  /// The number of threads that exchange values by shuffles: a power of two, at most 64.
  int64_t warp;
  /// Emits a synchronization of the threads of a warp; their previous writes become visible.
  void (*synchronizeWarp)(mlir::ImplicitLocOpBuilder &builder);
};

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_HARDWARE_H
