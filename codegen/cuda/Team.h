//===- Team.h - Threads that share a row ------------------------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_TEAM_H
#define MTC_CODEGEN_CUDA_TEAM_H

#include "codegen/cuda/LaunchPlan.h"
#include "codegen/cuda/ThreadBuilder.h"
#include "codegen/kernels/Reductions.h"

namespace mtc::cuda {

/// The teams of a block. Each has `size` members; all threads of the block take part in what is
/// called.
class Team {
public:
  Team(mlir::ImplicitLocOpBuilder &b, ThreadBuilder &threads, const ReductionPlan &plan);

  /// What teams take of shared memory to combine all reductions up to a level.
  static int64_t sharedBytes(const NormalKernel &kernel, const ReductionPlan &plan, unsigned level);

  mlir::Value member() const { return ownMember; }
  /// The team's place in the block.
  mlir::Value team() const { return ownTeam; }

  /// Combines the members' accumulators, in a tree that follows from the team's size; every member
  /// gets the result.
  Accumulators combine(const Reductions &reductions, Accumulators accumulators);
  /// Members wait for each other; what they wrote is seen.
  void wait();
  /// Whether members combine by shuffles alone, which order no accesses of memory.
  bool isOfOneWarp() const { return neighbours && size > 1 && size <= kWarp; }

private:
  Accumulators combineInWarp(const Reductions &reductions, Accumulators accumulators,
                             int64_t lanes);
  Accumulators combineWarps(const Reductions &reductions, Accumulators accumulators);
  Accumulators combineThroughMemory(const Reductions &reductions, Accumulators accumulators);
  /// Puts values into shared memory, one for each of `slots` places, and waits.
  llvm::SmallVector<mlir::Value> share(mlir::ValueRange values, int64_t slots, mlir::Value slot,
                                       mlir::Value where);
  mlir::Value read(mlir::Value shared, mlir::Type type, mlir::Value slot);

  mlir::ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  int64_t size, teams;
  bool neighbours;
  mlir::Value ownMember, ownTeam;
};

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_TEAM_H
