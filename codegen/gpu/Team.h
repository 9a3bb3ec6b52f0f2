//===- Team.h - Teams of threads that share a row ---------------------------------------------===//

#ifndef MTC_CODEGEN_GPU_TEAM_H
#define MTC_CODEGEN_GPU_TEAM_H

#include "codegen/gpu/LaunchPlan.h"
#include "codegen/gpu/ThreadBuilder.h"
#include "codegen/kernels/Reductions.h"

namespace mtc::gpu {

/// The teams of a block. Each team has `size` members. All threads of the block must execute the
/// emitted code.
class Team {
public:
  Team(mlir::ImplicitLocOpBuilder &b, ThreadBuilder &threads, const ReductionPlan &plan);

  /// Returns the bytes of shared memory that teams need to combine all reductions up to a level.
  static int64_t sharedBytes(const NormalKernel &kernel, const ReductionPlan &plan, unsigned level,
                             int64_t warp);

  mlir::Value member() const { return ownMember; }
  /// Returns the index of the thread's team in the block.
  mlir::Value team() const { return ownTeam; }

  /// Combines the members' accumulators in a tree that depends on the team's size only. All members
  /// obtain the result.
  Accumulators combine(const Reductions &reductions, Accumulators accumulators);
  /// Synchronizes the members and makes their writes visible to each other.
  void wait();
  /// Returns whether members combine with shuffles only, which do not order memory accesses.
  bool isOfOneWarp() const { return neighbours && size > 1 && size <= threads.warp(); }

private:
  Accumulators combineInWarp(const Reductions &reductions, Accumulators accumulators,
                             int64_t lanes);
  Accumulators combineWarps(const Reductions &reductions, Accumulators accumulators);
  Accumulators combineThroughMemory(const Reductions &reductions, Accumulators accumulators);
  /// Stores values to shared memory, at index `slot` of `slots`, and synchronizes.
  llvm::SmallVector<mlir::Value> share(mlir::ValueRange values, int64_t slots, mlir::Value slot,
                                       mlir::Value where);
  mlir::Value read(mlir::Value shared, mlir::Type type, mlir::Value slot);

  mlir::ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  int64_t size, teams;
  bool neighbours;
  mlir::Value ownMember, ownTeam;
};

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_TEAM_H
