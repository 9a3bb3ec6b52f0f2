//===- GroupSums.h - Column sums of a team over its rows --------------------------------------===//

#ifndef MTC_CODEGEN_GPU_GROUPSUMS_H
#define MTC_CODEGEN_GPU_GROUPSUMS_H

#include "codegen/gpu/BlockSums.h"
#include "codegen/gpu/LaunchEmitter.h"
#include "codegen/gpu/Team.h"

namespace mtc::gpu {

/// One step of a row whose values stay in registers: a vector of reduced iterations.
struct RowStep {
  IterationEmitter::State state;
  mlir::Value exists; ///< null if it always exists
};

/// The column sums of a group of rows, either in registers carried from row to row, or in the
/// group's copy in scratch memory.
class GroupSums {
public:
  GroupSums(LaunchEmitter &e, const ReductionPlan &plan, Team &team)
      : plan(plan), kernel(e.kernel), b(e.b), threads(e.threads), iterations(e.iterations),
        team(team), blockSums(e.kernel, plan, e.b, e.threads, team), scratch(e.scratch) {}

  /// Returns whether the elements of a result depend on the reduced dimensions.
  bool variesAlongRow(unsigned result) const;
  /// Selects a column sum to be kept in registers.
  void keepInRegisters(unsigned result) { residentSums.push_back(result); }

  /// Determines the group's copy in scratch memory, and zeroes the sums that are accumulated there.
  void begin(mlir::Value group, mlir::Value groupExists);
  /// Returns the group's index among those that divide the same rows.
  mlir::Value getShare() const { return share; }
  /// Returns the first row of the range that the group's rows are in, or null if the range is all
  /// rows.
  mlir::Value getFirstRow() const { return firstRow; }

  /// Returns the initial values of the sums in registers: one for each such result, or one for each
  /// step of a row if the result varies along the row.
  ThreadBuilder::Values zeros();
  /// Adds the values of a row to the carried sums.
  ThreadBuilder::Values addUp(mlir::ValueRange carried, llvm::ArrayRef<RowStep> steps,
                              mlir::Value rowExists);
  /// Stores the sums that were kept in registers to scratch memory. All threads of the block must
  /// execute the emitted code.
  void store(llvm::ArrayRef<mlir::Value> sums);

private:
  mlir::Value partialsOf(unsigned result, int64_t offset);
  int64_t sumsOf(unsigned result) const { return variesAlongRow(result) ? plan.residentSteps : 1; }

  const ReductionPlan &plan;
  const NormalKernel &kernel;
  mlir::ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  GlobalIterationEmitter &iterations;
  Team &team;
  BlockSums blockSums;
  mlir::Value scratch, share, copy, firstRow, groupExists;
  llvm::SmallVector<unsigned> residentSums;
  llvm::SmallVector<mlir::Value> bases; ///< base addresses of the sums in the group's copy
};

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_GROUPSUMS_H
