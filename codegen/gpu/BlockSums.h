//===- BlockSums.h - Sums of values over the teams of a block ---------------------------------===//

#ifndef MTC_CODEGEN_GPU_BLOCKSUMS_H
#define MTC_CODEGEN_GPU_BLOCKSUMS_H

#include "codegen/gpu/LaunchPlan.h"
#include "codegen/gpu/Team.h"

namespace mtc::gpu {

/// Adds up values of the teams of a block, in an order that depends on the plan only. If the
/// members of a team are adjacent threads, a warp consists of whole teams or a team of whole warps.
class BlockSums {
public:
  BlockSums(const NormalKernel &kernel, const ReductionPlan &plan, mlir::ImplicitLocOpBuilder &b,
            ThreadBuilder &threads, Team &team)
      : kernel(kernel), plan(plan), b(b), threads(threads), team(team) {}

  /// Returns the bytes of shared memory for any column sum of the kernel.
  static int64_t sharedBytes(const NormalKernel &kernel, const ReductionPlan &plan, int64_t warp);

  /// Returns the sum over all teams of the values, scalars or vectors, of the members with the same
  /// index. All threads of the block must execute the emitted code.
  mlir::Value addUp(mlir::Value own);

private:
  mlir::Value shuffle(mlir::Value value, int64_t distance);

  const NormalKernel &kernel;
  const ReductionPlan &plan;
  mlir::ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  Team &team;
  mlir::Value shared;
};

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_BLOCKSUMS_H
