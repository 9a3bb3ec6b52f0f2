//===- LaunchEmitter.h - State of a launch being emitted --------------------------------------===//

#ifndef MTC_CODEGEN_GPU_LAUNCHEMITTER_H
#define MTC_CODEGEN_GPU_LAUNCHEMITTER_H

#include "codegen/gpu/GlobalIterationEmitter.h"
#include "codegen/gpu/ThreadBuilder.h"

namespace mtc::gpu {

/// The state that the emitters of all plan shapes share. The insertion point is in the launch's
/// function.
struct LaunchEmitter {
  const NormalKernel &kernel;
  mlir::ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  GlobalIterationEmitter &iterations;
  mlir::ValueRange results; ///< pointers to the results
  mlir::Value scratch;      ///< null if the plan needs none
  int64_t scratchBytes;
  const LaunchSize &launch; ///< the launch being emitted
  unsigned position;        ///< index of the launch in the plan

  /// Returns the values that the kernel's results need: the stored values, then the offset symbols.
  llvm::SmallVector<mlir::Value> stored() const {
    KernelYieldOp yield = kernel.yield;
    llvm::SmallVector<mlir::Value> all(yield.getValues());
    all.append(yield.getSymbols().begin(), yield.getSymbols().end());
    return all;
  }
  /// Returns the indices of the kernel's results.
  llvm::SmallVector<unsigned> resultNumbers() const {
    return llvm::to_vector(llvm::seq<unsigned>(kernel.outputs.size()));
  }
};

void emitTranspose(LaunchEmitter &emitter, const TransposePlan &plan);
/// Zeroes the elements that a scatter adds to.
void emitZeros(LaunchEmitter &emitter, const ScatterPlan &plan);
void emitScatter(LaunchEmitter &emitter, const ScatterPlan &plan);
void emitElementwise(LaunchEmitter &emitter, const ElementwisePlan &plan);
void emitReduction(LaunchEmitter &emitter, const ReductionPlan &plan);
/// Adds up the partial column sums of the groups. The sums of the i-th result of `columnSums` are
/// an array [groups, elements of the result] at byte `partials[i]` of the scratch buffer.
void emitColumnSums(LaunchEmitter &emitter, llvm::ArrayRef<unsigned> columnSums,
                    llvm::ArrayRef<int64_t> partials, int64_t groups);

} // namespace mtc::gpu

#endif // MTC_CODEGEN_GPU_LAUNCHEMITTER_H
