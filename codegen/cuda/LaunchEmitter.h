//===- LaunchEmitter.h - One launch of a kernel being written ---------------------------------===//

#ifndef MTC_CODEGEN_CUDA_LAUNCHEMITTER_H
#define MTC_CODEGEN_CUDA_LAUNCHEMITTER_H

#include "codegen/cuda/GlobalPointEmitter.h"
#include "codegen/cuda/ThreadBuilder.h"

namespace mtc::cuda {

/// What the emitters of all shapes write with. The insertion point is in the launch's function.
struct LaunchEmitter {
  const NormalKernel &kernel;
  mlir::ImplicitLocOpBuilder &b;
  ThreadBuilder &threads;
  GlobalPointEmitter &points;
  mlir::ValueRange results; ///< Pointers to them.
  mlir::Value scratch;      ///< Null if the plan needs none.
  int64_t scratchBytes;
  const LaunchSize &launch; ///< The one being written,
  unsigned position;        ///< its place among the kernel's launches.

  /// What the kernel's results need: their values, then the symbols of their places.
  llvm::SmallVector<mlir::Value> stored() const {
    KernelYieldOp yield = kernel.yield;
    llvm::SmallVector<mlir::Value> all(yield.getValues());
    all.append(yield.getSymbols().begin(), yield.getSymbols().end());
    return all;
  }
  /// The numbers of the kernel's results.
  llvm::SmallVector<unsigned> resultNumbers() const {
    return llvm::to_vector(llvm::seq<unsigned>(kernel.outputs.size()));
  }
};

void emitTranspose(LaunchEmitter &emitter, const TransposePlan &plan);
/// Sets to zero what a scatter adds to.
void emitZeros(LaunchEmitter &emitter, const ScatterPlan &plan);
void emitScatter(LaunchEmitter &emitter, const ScatterPlan &plan);
void emitElementwise(LaunchEmitter &emitter, const ElementwisePlan &plan);
void emitReduction(LaunchEmitter &emitter, const ReductionPlan &plan);
/// Adds up the sums that groups have left in scratch, for each of the results `columnSums` at byte
/// `partials` an array [groups, elements of the result].
void emitColumnSums(LaunchEmitter &emitter, llvm::ArrayRef<unsigned> columnSums,
                    llvm::ArrayRef<int64_t> partials, int64_t groups);

} // namespace mtc::cuda

#endif // MTC_CODEGEN_CUDA_LAUNCHEMITTER_H
