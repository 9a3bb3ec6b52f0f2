//===- GroupSums.h - What a team adds up over its rows --------------------------------------===//

#ifndef MTC_CODEGEN_CUDA_GROUPSUMS_H
#define MTC_CODEGEN_CUDA_GROUPSUMS_H

#include "codegen/cuda/LaunchEmitter.h"
#include "codegen/cuda/Team.h"

namespace mtc::cuda {

/// A vector of reduced points whose values stay in registers.
struct RowStep {
  PointEmitter::State state;
  mlir::Value exists; ///< Null if it does in any case.
};

/// The column sums of a group of rows: in registers, carried from row to row, or in the group's
/// place in scratch.
class GroupSums {
public:
  GroupSums(LaunchEmitter &e, const ReductionPlan &plan, Team &team)
      : plan(plan), kernel(e.kernel), b(e.b), threads(e.threads), points(e.points), team(team),
        scratch(e.scratch) {}

  void keepInRegisters(unsigned result) { residentSums.push_back(result); }

  /// Finds the group's place. What is added up in scratch starts as zero.
  void begin(mlir::Value group, mlir::Value groupExists);
  /// Which of the sums' copies is the group's.
  mlir::Value getCopy() const { return copy; }
  /// The first of the rows among which the group's are; null if they are all rows.
  mlir::Value getFirstRow() const { return firstRow; }

  /// One for each sum that stays in registers, and each step of a row.
  ThreadBuilder::Values zeros();
  ThreadBuilder::Values addUp(mlir::ValueRange carried, llvm::ArrayRef<RowStep> steps,
                              mlir::Value rowExists);
  void store(llvm::ArrayRef<mlir::Value> sums);

private:
  mlir::Value partialsOf(unsigned result, int64_t offset);

  const ReductionPlan &plan;
  const NormalKernel &kernel;
  mlir::ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  GlobalPointEmitter &points;
  Team &team;
  mlir::Value scratch, copy, firstRow, groupExists;
  llvm::SmallVector<unsigned> residentSums;
  llvm::SmallVector<mlir::Value> bases; ///< Of the sums' places for the group.
};

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_GROUPSUMS_H
